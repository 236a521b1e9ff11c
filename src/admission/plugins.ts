import type { NamingProfile } from '../config/naming-profile.js';
import type { AdmissionPlugin } from './admission-plugin.js';
import { namespaceLifecycle, type NamespaceReader } from './plugins/namespace-lifecycle.plugin.js';

export interface AdmissionParts {
  readonly namespaces: NamespaceReader;
  readonly naming: NamingProfile;
}

/** Every built-in plug-in, in the order they run. */
export function builtInPlugins(parts: AdmissionParts): readonly AdmissionPlugin[] {
  return [namespaceLifecycle(parts.namespaces, parts.naming)];
}

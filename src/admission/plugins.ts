import { defaultAdmissionPlugins } from '../config/admission-plugin-names.js';
import type { NamingProfile } from '../config/naming-profile.js';
import type { AdmissionPlugin } from './admission-plugin.js';
import { namespaceLifecycle, type NamespaceReader } from './plugins/namespace-lifecycle.plugin.js';
import { noPrivilegedContainers } from './plugins/privileged-containers.plugin.js';

export interface AdmissionParts {
  readonly namespaces: NamespaceReader;
  readonly naming: NamingProfile;
  readonly allowPrivileged: boolean;
}

export interface PluginChoice {
  readonly enabledPlugins: readonly string[];
  readonly disabledPlugins: readonly string[];
}

/** Every built-in plug-in, in the order they run. */
export function builtInPlugins(parts: AdmissionParts): readonly AdmissionPlugin[] {
  return [
    namespaceLifecycle(parts.namespaces, parts.naming),
    ...(parts.allowPrivileged ? [] : [noPrivilegedContainers]),
  ];
}

/** Those of the plug-ins that are on, and the names that were enabled and that nobody here answers to. */
export function choosePlugins(
  plugins: readonly AdmissionPlugin[],
  { enabledPlugins, disabledPlugins }: PluginChoice,
): { readonly chosen: readonly AdmissionPlugin[]; readonly missing: readonly string[] } {
  const byFlag = new Set([...defaultAdmissionPlugins, ...enabledPlugins]);
  const isOn = ({ name }: AdmissionPlugin) =>
    name === noPrivilegedContainers.name || (byFlag.has(name) && !disabledPlugins.includes(name));
  return {
    chosen: plugins.filter(isOn),
    missing: enabledPlugins.filter((name) => !plugins.some((plugin) => plugin.name === name)),
  };
}

import type { KubeObject } from '../machinery/kube-object.js';
import type { RequestContext } from './request-context.js';
import type { ResourceDefinition } from './resource-definition.js';

/**
 * What a write may be refused by after the kind has accepted it: validating admission, handed in by the verbs so that
 * this floor knows nothing of plug-ins. `admit` may change the object; `validate` only throws.
 */
export interface Admit {
  admit(object: KubeObject | undefined, old: KubeObject | undefined): Promise<KubeObject | undefined>;
  validate(object: KubeObject | undefined, old: KubeObject | undefined): Promise<void>;
}

export interface WriteContext {
  readonly request: RequestContext;
  readonly admission: Admit;
  /** Through what the object is written, for the record of who owns its fields; none is kept without it. */
  readonly through?: { readonly definition: ResourceDefinition; readonly subresource: string } | undefined;
}

import type { KubeObject } from '../../machinery/kube-object.js';
import type { RequestContext } from '../request-context.js';
import type { ResourceDefinition } from '../definition/resource-definition.js';

/**
 * The admission of one write, passed in by the verbs because this layer does not know plug-ins. `admit` runs mutating
 * plug-ins and may change the object; `validate` runs validating ones and throws to reject.
 */
export interface Admit {
  admit(object: KubeObject | undefined, old: KubeObject | undefined): Promise<KubeObject | undefined>;
  validate(object: KubeObject | undefined, old: KubeObject | undefined): Promise<void>;
}

export interface WriteContext {
  readonly request: RequestContext;
  readonly admission: Admit;
  /**
   * The version and subresource that metadata.managedFields records for this write. Absent if managedFields are not
   * updated.
   */
  readonly through?: { readonly definition: ResourceDefinition; readonly subresource: string } | undefined;
}

import type { GroupResource } from '../machinery/gvk.js';
import type { KubeObject } from '../machinery/kube-object.js';
import type { RequestContext } from '../registry/request-context.js';

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** What a plug-in sees of a write. `object` is absent on DELETE, `old` on CREATE. */
export interface AdmissionAttributes {
  readonly operation: AdmissionOperation;
  readonly resource: GroupResource;
  readonly kind: string;
  readonly subresource: string;
  readonly namespaced: boolean;
  readonly namespace: string;
  readonly name: string;
  readonly object: KubeObject | undefined;
  readonly old: KubeObject | undefined;
  readonly request: RequestContext;
}

/**
 * One rule about writes, whatever the kind. `admit` may change the object, `validate` sees it as it will be stored;
 * either refuses by throwing an ApiError. `admit` of all plug-ins runs before `validate` of any.
 */
export interface AdmissionPlugin {
  readonly name: string;
  readonly admit?: (attributes: AdmissionAttributes) => void | Promise<void>;
  readonly validate?: (attributes: AdmissionAttributes) => void | Promise<void>;
}

import type { KubeObject } from '../machinery/kube-object.js';

/** Gets the object of a request, for the audit log. */
export interface RequestRecord {
  /** True if the object itself is recorded, and not only its name. */
  readonly takesRequests: boolean;
  /** Called once for the object of the request, with its defaults if `takesRequests`, before anything else changes it. */
  submitted(object: KubeObject): void;
}

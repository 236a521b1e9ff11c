import type { AdmissionChain } from '../admission/admission-chain.js';
import type { KubeObject } from '../machinery/kube-object.js';
import type { Written } from '../registry/write/create.js';
import type { Preconditions } from '../registry/write/preconditions.js';
import { updateObject } from '../registry/write/update.js';
import { viewSubresourceOf } from './view-subresource.js';
import { admissionFor, type Target } from './verb.js';

/**
 * Updates an object for a component of this server. `changed` computes the new object from the current one, in the
 * storage version. It is called again after a conflict, and returns its argument if there is nothing to do.
 */
export function change(
  chain: AdmissionChain,
  target: Target,
  subresource: string,
  changed: (current: KubeObject) => KubeObject | Promise<KubeObject>,
  preconditions?: Preconditions,
): Promise<Written> {
  const { served } = target;
  const { store } = served;
  const viewSubresource = viewSubresourceOf(served, subresource, 'update');
  return updateObject(
    store,
    target,
    (current) => changed(current!),
    { subresource: viewSubresource, preconditions, requiresResourceVersion: false, createsMissing: false },
    {
      request: target.context,
      admission: admissionFor(chain, target, 'UPDATE', subresource),
      managedFields: { mode: 'track', definition: store.definition, subresource },
    },
  );
}

import type { AdmissionChain } from '../admission/admission-chain.js';
import type { KubeObject } from '../machinery/kube-object.js';
import type { Written } from '../registry/create.js';
import type { Preconditions } from '../registry/preconditions.js';
import { updateObject } from '../registry/update.js';
import { viewSubresourceOf } from './view-subresource.js';
import { admissionFor, type Target } from './verb.js';

/**
 * What parts of this server change: a function of the object that is there, in its stored version. It is called again
 * on what a faster writer left, and returns the same object where there is nothing to do.
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
  const lens = subresource === '' ? undefined : viewSubresourceOf(served, subresource, 'update');
  return updateObject(
    store,
    target,
    (current) => changed(current!),
    { subresource: lens, preconditions, requiresResourceVersion: false, createsMissing: false },
    {
      request: target.context,
      admission: admissionFor(chain, target, 'UPDATE', subresource),
      through: { definition: store.definition, subresource },
    },
  );
}

import type { AdmissionChain } from '../admission/admission-chain.js';
import type { KubeObject } from '../machinery/kube-object.js';
import type { DeleteOptions } from '../machinery/delete-options.js';
import { deleteUnreadable } from '../registry/write/delete-unreadable.js';
import { deleteObject, type Deleted } from '../registry/write/delete.js';
import type { ServedResource } from '../registry/resource-registry.js';
import { admissionFor, answerOf, type Target, type VerbAnswer } from './verb.js';

export async function deleteOne(chain: AdmissionChain, target: Target, options: DeleteOptions): Promise<VerbAnswer> {
  if (options.ignoreStoreReadErrorWithClusterBreakingPotential) return deleteCorrupt(chain, target);
  const deleted = await remove(chain, target, options);
  const { definition } = target.served;
  if (!deleted.gone) {
    // Clients with the old orphanDependents option get 202 while the object is still held.
    const code = options.orphanDependents === false ? 202 : 200;
    return answerOf(definition, deleted, code);
  }
  if (!definition.returnsDeletedObject) return { type: 'status', status: successOf(target.served, deleted.object) };
  return answerOf(definition, deleted, 200);
}

export async function remove(chain: AdmissionChain, target: Target, options: DeleteOptions): Promise<Deleted> {
  const admission = admissionFor(chain, target, 'DELETE', '');
  await admission.admit(undefined, undefined);
  return deleteObject(target.served.store, target, options, { request: target.context, admission });
}

async function deleteCorrupt(chain: AdmissionChain, target: Target): Promise<VerbAnswer> {
  const { served, name, context } = target;
  await admissionFor(chain, target, 'DELETE', '').admit(undefined, undefined);
  await deleteUnreadable(served.store, target, context);
  const { group, kind } = served.definition;
  // The kind of the object, not its resource as in other deletions: as in kube-apiserver.
  const status = successOf(served, { metadata: { name } });
  return { type: 'status', status: { ...status, details: { name, ...(group !== '' && { group }), kind } } };
}

function successOf(served: ServedResource, object: Pick<KubeObject, 'metadata'>) {
  const { group, plural } = served.definition;
  return {
    kind: 'Status' as const,
    apiVersion: 'v1' as const,
    metadata: {},
    status: 'Success' as const,
    details: {
      name: object.metadata.name ?? '',
      ...(group !== '' && { group }),
      kind: plural,
      ...(object.metadata.uid !== undefined && { uid: object.metadata.uid }),
    },
  };
}

import type { AdmissionChain } from '../admission/admission-chain.js';
import { copyObject } from '../patch/copy-json.js';
import { toStorageVersion } from '../registry/definition/served-version.js';
import type { Submission } from '../registry/write/submission.js';
import { updateObject } from '../registry/write/update.js';
import { YieldTimer } from '../std/yield-timer.js';
import { viewSubresourceOf } from './view-subresource.js';
import { checkName, ensureNamespace } from './object-identity.js';
import { submittedTo } from './submitted.js';
import { admissionFor, answerOf, type RequireCreate, type Target, type VerbAnswer } from './verb.js';

/** Implements PUT. Creates a missing object if its kind allows it. */
export async function update(
  chain: AdmissionChain,
  target: Target,
  subresource: string,
  body: Submission,
  requireCreate: RequireCreate,
): Promise<VerbAnswer> {
  const { definition, store } = target.served;
  const viewSubresource = subresource === '' ? undefined : viewSubresourceOf(target.served, subresource, 'update');
  const timer = new YieldTimer(store.dependencies.clock);
  const submitted = submittedTo(target.served, body, target.context, viewSubresource?.viewKind);
  if (timer.isDue()) await timer.yield();
  ensureNamespace(submitted, target.namespace, definition.namespaced);
  checkName(submitted, target.name);
  const written = await updateObject(
    store,
    target,
    () => copyObject(viewSubresource?.viewKind ? submitted : toStorageVersion(definition, submitted)),
    {
      subresource: viewSubresource,
      preconditions: target.preconditions,
      requiresResourceVersion: !definition.allowsUnconditionalUpdate && !viewSubresource?.viewKind,
      createsMissing: definition.allowsCreateOnUpdate && !viewSubresource,
    },
    {
      request: target.context,
      admission: admissionFor(chain, target, 'UPDATE', subresource, requireCreate),
      managedFields: { mode: 'track', definition, subresource },
    },
  );
  return answerOf(definition, written, written.created ? 201 : 200, viewSubresource);
}

import type { AdmissionChain } from '../admission/admission-chain.js';
import { copyObject } from '../patch/copy-json.js';
import type { KubeObject } from '../machinery/kube-object.js';
import { toStorageVersion } from '../registry/definition/served-version.js';
import type { Submission } from '../registry/write/submission.js';
import { updateObject } from '../registry/write/update.js';
import { untilReady } from '../std/not-ready.js';
import { YieldTimer } from '../std/yield-timer.js';
import { viewSubresourceOf } from './view-subresource.js';
import { checkName, ensureNamespace } from './object-identity.js';
import { recordSubmitted } from './record-submitted.js';
import { structOf, submittedTo } from './submitted.js';
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
  const viewSubresource = viewSubresourceOf(target.served, subresource, 'update');
  const timer = new YieldTimer(store.dependencies.clock);
  const isTyped = structOf(target.served, viewSubresource?.viewKind) !== undefined;
  const read = () => {
    const object = submittedTo(target.served, body, target.context, viewSubresource?.viewKind);
    recordSubmitted(target, object, viewSubresource?.viewKind);
    ensureNamespace(object, target.namespace, definition.namespaced);
    checkName(object, target.name);
    const converted = viewSubresource?.viewKind ? object : toStorageVersion(definition, object);
    // Objects without a type may share values with the body.
    return isTyped ? converted : copyObject(converted);
  };
  // An attempt changes the object that it gets. Most PUTs have one attempt; later ones decode the body again.
  const converted = untilReady(read, target.context.steps?.trace);
  let first: KubeObject | undefined = converted instanceof Promise ? await converted : converted;
  if (timer.isDue()) await timer.yield();
  const written = await updateObject(
    store,
    target,
    () => {
      const submitted = first ?? read();
      first = undefined;
      return submitted;
    },
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

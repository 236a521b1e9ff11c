import type { AdmissionChain } from '../admission/admission-chain.js';
import { createObject } from '../registry/write/create.js';
import { toStorageVersion } from '../registry/definition/served-version.js';
import type { Submission } from '../registry/write/submission.js';
import { untilReady } from '../std/not-ready.js';
import { YieldTimer } from '../std/yield-timer.js';
import { ensureNamespace } from './object-identity.js';
import { recordSubmitted } from './record-submitted.js';
import { submittedTo } from './submitted.js';
import { admissionFor, answerOf, type Target, type VerbAnswer } from './verb.js';

export async function create(chain: AdmissionChain, target: Target, body: Submission): Promise<VerbAnswer> {
  const { definition, store } = target.served;
  const timer = new YieldTimer(store.dependencies.clock);
  const object = submittedTo(target.served, body, target.context);
  recordSubmitted(target, object);
  ensureNamespace(object, target.namespace, definition.namespaced);
  if (timer.isDue()) await timer.yield();
  const converted = untilReady(() => toStorageVersion(definition, object), target.context.steps?.trace);
  const written = await createObject(store, converted instanceof Promise ? await converted : converted, {
    request: target.context,
    managedFields: { mode: 'track', definition, subresource: '' },
    admission: admissionFor(chain, target, 'CREATE', ''),
  });
  return answerOf(definition, written, 201);
}

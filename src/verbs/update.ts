import type { AdmissionChain } from '../admission/admission-chain.js';
import { copyObject } from '../patch/copy-json.js';
import type { ResourceDefinition } from '../registry/resource-definition.js';
import { toStorageVersion } from '../registry/served-version.js';
import type { Submission } from '../registry/submission.js';
import { updateObject } from '../registry/update.js';
import { YieldTimer } from '../std/yield-timer.js';
import { viewSubresourceOf } from './view-subresource.js';
import { checkName, placeInNamespace } from './placement.js';
import { submittedTo } from './submitted.js';
import { admissionFor, answerOf, type RequireCreate, type Target, type VerbAnswer } from './verb.js';

/** PUT: the change is "this, instead". A missing object is created where its kind allows that. */
export async function update(
  chain: AdmissionChain,
  target: Target,
  subresource: string,
  body: Submission,
  requireCreate: RequireCreate,
): Promise<VerbAnswer> {
  const { definition, store } = target.served;
  const lens = subresource === '' ? undefined : viewSubresourceOf(target.served, subresource, 'update');
  const timer = new YieldTimer(store.parts.clock);
  const submitted = submittedTo(target.served, body, target.context, lens?.viewKind);
  if (timer.isDue()) await timer.yield();
  placeInNamespace(submitted, target.namespace, definition.namespaced);
  checkName(submitted, target.name);
  const written = await updateObject(
    store,
    target,
    () => copyObject(lens?.viewKind ? submitted : toStorageVersion(definition, submitted)),
    {
      subresource: lens,
      preconditions: target.preconditions,
      requiresResourceVersion: !definition.allowsUnconditionalUpdate && !lens,
      createsMissing: definition.allowsCreateOnUpdate && !lens,
    },
    {
      request: target.context,
      admission: admissionFor(chain, target, 'UPDATE', subresource, requireCreate),
      through: { definition, subresource },
    },
  );
  return answer(definition, written, lens);
}

export function answer(
  definition: ResourceDefinition,
  written: Awaited<ReturnType<typeof updateObject>>,
  lens: ReturnType<typeof viewSubresourceOf> | undefined,
): VerbAnswer {
  const code = written.created ? 201 : 200;
  if (lens?.viewKind) return { type: 'made', code, object: lens.view(written.encoded?.parse() ?? written.object) };
  return answerOf(definition, written, code);
}

import type { AdmissionChain } from '../admission/admission-chain.js';
import { createObject } from '../registry/create.js';
import { toStored } from '../registry/served-version.js';
import { submittedObject } from '../registry/submitted-object.js';
import { placeInNamespace } from './placement.js';
import { admissionFor, answerOf, type Target, type VerbAnswer } from './verb.js';

export async function create(chain: AdmissionChain, target: Target, body: unknown): Promise<VerbAnswer> {
  const { definition, store } = target.served;
  const object = submittedObject(body, definition, { keepsNulls: definition.itemsCarryType, shape: definition.shape });
  placeInNamespace(object, target.namespace, definition.namespaced);
  const written = await createObject(store, toStored(definition, object), {
    request: target.context,
    admission: admissionFor(chain, { ...target, name: object.metadata.name ?? '' }, 'CREATE', ''),
  });
  return answerOf(definition, written, 201);
}

import type { AdmissionChain } from '../admission/admission-chain.js';
import { createObject } from '../registry/create.js';
import { submittedObject } from '../registry/submitted-object.js';
import { placeInNamespace } from './placement.js';
import { admissionFor, type Target, type VerbAnswer } from './verb.js';

export async function create(chain: AdmissionChain, target: Target, body: unknown): Promise<VerbAnswer> {
  const { definition, store } = target.served;
  const object = submittedObject(body, definition, { keepsNulls: definition.itemsCarryType, shape: definition.shape });
  placeInNamespace(object, target.namespace, definition.namespaced);
  const written = await createObject(store, object, {
    request: target.context,
    admission: admissionFor(chain, { ...target, name: object.metadata.name ?? '' }, 'CREATE', ''),
  });
  return written.encoded
    ? { type: 'stored', code: 201, encoded: written.encoded }
    : { type: 'made', code: 201, object: written.object };
}

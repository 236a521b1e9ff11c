import { ApiError } from '../../machinery/api-error.js';
import { fieldError } from '../../machinery/field-error.js';
import type { JsonObject, KubeObject } from '../../machinery/kube-object.js';
import { putOwn } from '../../machinery/put-own.js';
import { ConformError } from '../../typed/conform-error.js';
import { untilReady } from '../../std/not-ready.js';
import type { MatchedRequest } from './matched-request.js';
import type { RequestForm } from './request-form.js';

/**
 * Replaces the object of a request by a changed one, which is read like a submitted one and gets its defaults. Refuses
 * another namespace, and another name except for the object of a POST: permissions and rules were those of the request.
 */
export async function replaceObject(
  { attributes }: MatchedRequest,
  form: RequestForm,
  changed: unknown,
): Promise<void> {
  const { object, served, subresource } = attributes;
  const next = await untilReady(() => restored(form, changed, object!), attributes.request.steps?.trace);
  for (const field of ['namespace', 'name'] as const) {
    const value = next.metadata[field] ?? '';
    if (value !== (object!.metadata[field] ?? '')) refuseChange(attributes, field, value);
  }
  const fields = object as unknown as JsonObject;
  for (const name of Object.keys(fields)) if (!Object.hasOwn(next, name)) delete fields[name];
  for (const [name, value] of Object.entries(next)) putOwn(fields, name, value);
  if (subresource !== '' || served.type !== 'stored') return;
  served.store.fillTypeDefaults(object!);
  served.store.fillKindDefaults(object!);
}

function refuseChange(
  { operation, request, served, subresource, name }: MatchedRequest['attributes'],
  field: 'namespace' | 'name',
  value: string,
): void {
  if (field === 'name' && subresource === '') {
    if (operation === 'CREATE' && request.verb === 'create') return;
    // The error of kube-apiserver, which validates the changed object as an update.
    const problem = fieldError.invalid('metadata.name', value, 'field is immutable');
    if (operation === 'UPDATE') throw ApiError.invalid(served.definition, name, [problem]);
  }
  throw ApiError.badRequest(`the ${field} of the provided object does not match the ${field} sent on the request`);
}

/** Reads the changed object as its kind. A value of a wrong type is an internal error, as in kube-apiserver. */
function restored(form: RequestForm, changed: unknown, stored: KubeObject): KubeObject {
  try {
    return form.restore(changed, stored);
  } catch (error) {
    if (error instanceof ApiError && error.cause instanceof ConformError) throw ApiError.external(error.cause.message);
    throw error;
  }
}

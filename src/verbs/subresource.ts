import { ApiError } from '../machinery/api-error.js';
import { asFields } from '../machinery/fields.js';
import { apiVersionOf } from '../machinery/gvk.js';
import type { TypeSource } from '../machinery/type-model.js';
import type { SubresourceRequest } from '../registry/api-group.js';
import type { HandledSubresource } from '../registry/resource-definition.js';
import type { ServedResource, ServedVirtual } from '../registry/resource-registry.js';
import type { Submission } from '../registry/submission.js';
import { assert } from '../std/assert.js';
import { placeInNamespace } from './placement.js';
import { submittedAs } from './submitted.js';
import type { Target, VerbAnswer } from './verb.js';

type Verb = SubresourceRequest['verb'];

/** The subresource when an API group handles it, undefined when it is a lens; 404 when it is nothing. */
export function handledSubresource(served: ServedResource, subresource: string): HandledSubresource | undefined {
  const found = Object.hasOwn(served.definition.subresources, subresource)
    ? served.definition.subresources[subresource]
    : undefined;
  if (!found) throw ApiError.noSuchResource();
  return found.type === 'handled' ? found : undefined;
}

/** An operation that an API group class handles. */
export async function callSubresource(
  target: Target,
  subresource: string,
  verb: Verb,
  body: Submission | undefined,
  query: SubresourceRequest['query'],
): Promise<VerbAnswer> {
  const { definition, handlers } = target.served;
  const handled = handledSubresource(target.served, subresource);
  const handler = handlers.get(subresource);
  if (!handled || !handler) throw ApiError.noSuchResource();
  if (!handled.verbs.includes(verb)) throw ApiError.methodNotAllowed();
  const { types } = target.served.store.parts;
  const object = body && submittedAs(handled.kind, types, inKnownVersion(body, handled), target.context);
  if (object) placeInNamespace(object, target.namespace, definition.namespaced);
  const result = await handler({
    context: target.context,
    definition,
    namespace: target.namespace,
    name: target.name,
    verb,
    body: object,
    query,
  });
  if (!result.object) return { type: 'nothing', code: result.code ?? 204 };
  return { type: 'made', code: result.code ?? (verb === 'create' ? 201 : 200), object: result.object };
}

/** A body of an older version is taken for one of the version that it differs from in name alone. */
function inKnownVersion(body: Submission, { kind, alsoVersions = [] }: HandledSubresource): Submission {
  const value = asFields(body.value);
  const isOlder = alsoVersions.some((version) => value['apiVersion'] === apiVersionOf(kind.group, version));
  return isOlder ? { ...body, value: { ...value, apiVersion: apiVersionOf(kind.group, kind.version) } } : body;
}

/** A POST to a kind that is only an operation. */
export async function callVirtual(
  served: ServedVirtual,
  request: Pick<Target, 'namespace' | 'context'>,
  types: TypeSource,
  body: Submission,
): Promise<VerbAnswer> {
  const object = submittedAs(served.definition, types, body, request.context);
  placeInNamespace(object, request.namespace, served.definition.namespaced);
  const result = await served.handle({ ...request, definition: served.definition, body: object });
  assert(result.object, `${served.definition.plural} answered with nothing`);
  return { type: 'made', code: result.code ?? 201, object: result.object };
}

import type { AdmissionChain } from '../admission/admission-chain.js';
import type { AdmissionAttributes, AdmissionOperation } from '../admission/admission-plugin.js';
import { ApiError } from '../machinery/api-error.js';
import { asFields } from '../machinery/fields.js';
import { apiVersionOf } from '../machinery/gvk.js';
import type { JsonObject } from '../machinery/kube-object.js';
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
  chain: AdmissionChain,
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
  const operation = operationOf(handled, verb);
  if (operation) {
    const { namespace, name, context: request } = target;
    const resource = target.served.store.groupResource;
    const { namespaced } = definition;
    const { kind } = handled.kind;
    await admit(chain, {
      operation,
      resource,
      kind,
      subresource,
      namespaced,
      namespace,
      name,
      object,
      old: undefined,
      request,
    });
  }
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

/** What admission calls it; reading something is not its business. */
function operationOf({ connects }: HandledSubresource, verb: Verb): AdmissionOperation | undefined {
  if (connects) return 'CONNECT';
  return verb === 'create' ? 'CREATE' : verb === 'update' || verb === 'patch' ? 'UPDATE' : undefined;
}

/** Both steps at once: nothing lies between them, where nothing is stored. */
async function admit(chain: AdmissionChain, attributes: AdmissionAttributes): Promise<void> {
  await chain.admit(attributes);
  await chain.validate(attributes);
}

/** A body of an older version is taken for one of the version that it differs from in name alone. */
function inKnownVersion(body: Submission, { kind, alsoVersions = [] }: HandledSubresource): Submission {
  const value = asFields(body.value);
  const isOlder = alsoVersions.some((version) => value['apiVersion'] === apiVersionOf(kind.group, version));
  if (!isOlder) return body;
  const { repeated } = body;
  const known = (of: object) => ({ ...of, apiVersion: apiVersionOf(kind.group, kind.version) }) as JsonObject;
  return {
    ...body,
    value: known(value),
    repeated: repeated && { ...repeated, value: known(asFields(repeated.value)) },
  };
}

/** A POST to a kind that is only an operation. */
export async function callVirtual(
  chain: AdmissionChain,
  served: ServedVirtual,
  request: Pick<Target, 'namespace' | 'context'>,
  types: TypeSource,
  body: Submission,
): Promise<VerbAnswer> {
  const object = submittedAs(served.definition, types, body, request.context);
  const { group, plural, kind, namespaced } = served.definition;
  placeInNamespace(object, request.namespace, namespaced);
  await admit(chain, {
    operation: 'CREATE',
    resource: { group, resource: plural },
    kind,
    subresource: '',
    namespaced,
    namespace: request.namespace,
    name: object.metadata.name ?? '',
    object,
    old: undefined,
    request: request.context,
  });
  const result = await served.handle({ ...request, definition: served.definition, body: object });
  assert(result.object, `${served.definition.plural} answered with nothing`);
  return { type: 'made', code: result.code ?? 201, object: result.object };
}

import { admissionAttributes } from '../admission/admission-attributes.js';
import type { AdmissionChain } from '../admission/admission-chain.js';
import type { AdmissionOperation } from '../admission/admission-operation.js';
import { ApiError } from '../machinery/api-error.js';
import { asFields } from '../machinery/fields.js';
import { apiVersionOf } from '../machinery/gvk.js';
import type { JsonObject } from '../machinery/kube-object.js';
import type { TypeSource } from '../machinery/type-model.js';
import type { SubresourceRequest, VirtualRequest } from '../registry/apis/api-group.js';
import { subresourceOf, type HandledSubresource } from '../registry/definition/resource-definition.js';
import type { ServedResource, ServedVirtual } from '../registry/resource-registry.js';
import type { Submission } from '../registry/write/submission.js';
import { unstoredManagedFields } from '../registry/write/unstored-fields.js';
import { assert } from '../std/assert.js';
import type { Clock } from '../std/clock.js';
import { connectOptions } from './connect-options.js';
import { ensureNamespace } from './object-identity.js';
import { submittedAs } from './submitted.js';
import type { Target, VerbAnswer } from './verb.js';

type Verb = SubresourceRequest['verb'];

/**
 * Returns the subresource if an API group class handles it, undefined if it is a view; throws 404 if it does not exist.
 */
export function handledSubresource(served: ServedResource, subresource: string): HandledSubresource | undefined {
  const found = subresourceOf(served.definition, subresource);
  if (!found) throw ApiError.noSuchResource();
  return found.type === 'handled' ? found : undefined;
}

/** Calls the API group method that handles the subresource. `subpath` is the path below that of a connection. */
export async function callSubresource(
  chain: AdmissionChain,
  target: Target,
  subresource: string,
  verb: Verb,
  body: Submission | undefined,
  query: SubresourceRequest['query'] & { readonly subpath?: string },
): Promise<VerbAnswer> {
  const { definition, handlers } = target.served;
  const handled = handledSubresource(target.served, subresource);
  const handler = handlers.get(subresource);
  if (!handled || !handler) throw ApiError.noSuchResource();
  if (!handled.verbs.includes(verb)) throw ApiError.methodNotAllowed();
  const { types } = target.served.store.dependencies;
  const object = handled.connects
    ? connectOptions(handled.kind, types, query)
    : body && submittedAs(handled.kind, types, inKnownVersion(body, handled), target.context);
  if (object && !handled.connects) {
    target.context.record?.submitted(object);
    ensureNamespace(object, target.namespace, definition.namespaced);
  }
  const operation = operationOf(handled, verb);
  if (operation) {
    const { namespace, name, context: request } = target;
    const attributes = admissionAttributes({
      operation,
      resource: target.served.store.groupResource,
      kind: handled.kind.kind,
      served: target.served,
      subresource,
      namespaced: definition.namespaced,
      namespace,
      name,
      object,
      request,
    });
    await (handled.validatesAdmission ? chain.admit(attributes) : chain.admitAndValidate(attributes));
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
  if (result.forward) return { type: 'forward', plan: result.forward };
  if (!result.object) return { type: 'nothing', code: result.code ?? 204 };
  return { type: 'computed', code: result.code ?? (verb === 'create' ? 201 : 200), object: result.object };
}

/** Returns the admission operation of the request; undefined for reads, which admission does not see. */
function operationOf({ connects }: HandledSubresource, verb: Verb): AdmissionOperation | undefined {
  if (connects) return 'CONNECT';
  return verb === 'create' ? 'CREATE' : verb === 'update' || verb === 'patch' ? 'UPDATE' : undefined;
}

/** Accepts a body of an older version with the same fields. */
function inKnownVersion(body: Submission, { kind, alsoVersions = [] }: HandledSubresource): Submission {
  const value: { readonly apiVersion?: unknown } = asFields(body.value);
  const isOlder = alsoVersions.some((version) => value.apiVersion === apiVersionOf(kind.group, version));
  if (!isOlder) return body;
  const { repeated } = body;
  const known = (of: object) => ({ ...of, apiVersion: apiVersionOf(kind.group, kind.version) }) as JsonObject;
  return {
    ...body,
    value: known(value),
    repeated: repeated && { ...repeated, value: known(asFields(repeated.value)) },
  };
}

/** Handles a POST to a resource without objects. */
export async function callVirtual(
  chain: AdmissionChain,
  served: ServedVirtual,
  request: Pick<Target, 'namespace' | 'context'> & Pick<VirtualRequest, 'query'>,
  dependencies: { readonly types: TypeSource; readonly clock: Clock },
  body: Submission,
): Promise<VerbAnswer> {
  const object = submittedAs(served.definition, dependencies.types, body, request.context);
  request.context.record?.submitted(object);
  const { group, plural, kind, namespaced } = served.definition;
  ensureNamespace(object, request.namespace, namespaced);
  const attributes = admissionAttributes({
    operation: 'CREATE',
    resource: { group, resource: plural },
    kind,
    served,
    namespaced,
    namespace: request.namespace,
    name: '',
    object,
    request: request.context,
  });
  await chain.admitAndValidate(attributes);
  if (served.definition.tracksFields) {
    const kindOfBody = { ...served.definition, subresource: '' };
    const managedFields = await unstoredManagedFields(dependencies, kindOfBody, object, request.context);
    if (managedFields) object.metadata.managedFields = managedFields;
  }
  const result = await served.handle({ ...request, definition: served.definition, body: object });
  assert(result.object, `${served.definition.plural} returned no object`);
  return { type: 'computed', code: result.code ?? 201, object: result.object };
}

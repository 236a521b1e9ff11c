import { admissionAttributes } from '../../admission/admission-attributes.js';
import type { AdmissionChain } from '../../admission/admission-chain.js';
import type { BoundObjectReference, TokenRequest } from '../../catalog/types/authentication.v1.js';
import type { Pod, PodSpec } from '../../catalog/types/core.v1.js';
import { SignerError } from '../../auth/external-signer/external-signer.js';
import type { NamedObject, ServiceAccountTokens } from '../../auth/service-account-tokens.js';
import { ApiError } from '../../machinery/api-error.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { shortenedValue } from '../../machinery/go-quote.js';
import { parseApiVersion, type GroupVersionKind } from '../../machinery/gvk.js';
import type { KubeObject, ObjectMeta } from '../../machinery/kube-object.js';
import type { SubresourceRequest } from '../../registry/apis/api-group.js';
import type { ResourceRegistry } from '../../registry/resource-registry.js';
import type { ResourceStore } from '../../registry/resource-store.js';
import { objectTime } from '../../registry/write/system-fields.js';
import { unstoredManagedFields } from '../../registry/write/unstored-fields.js';
import { coreVersion } from './core.version.js';
import type { Cancellation } from '../../std/cancellation.js';

export interface TokenRequestDependencies {
  readonly registry: ResourceRegistry;
  readonly admission: AdmissionChain;
  readonly tokens: ServiceAccountTokens;
  /** Audiences of a token for which the client requests none. */
  readonly audiences: readonly string[];
  readonly labelDomain: string;
  /** `authentication.k8s.io` */
  readonly authenticationGroup: string;
  /** True if a metadata.uid other than that of the ServiceAccount is a conflict; otherwise it causes a warning. */
  readonly checksUid: boolean;
}

const lifeSecondsDefault = 3600;
const lifeSecondsMin = 600;
const lifeSecondsLimit = 2 ** 32;
/**
 * The expiration that the kubelet requests for the token volume of every Pod. Old client libraries read such a token only
 * once, so it can be extended.
 */
const podTokenSeconds = 3607;

/**
 * Handles a TokenRequest for a ServiceAccount. A token can be bound to a Pod, Secret or Node; it becomes invalid when the
 * object is deleted.
 */
export async function issueToken(
  dependencies: TokenRequestDependencies,
  { context, namespace, name, body }: SubresourceRequest,
  kind: GroupVersionKind,
): Promise<TokenRequest> {
  const { registry, admission, tokens } = dependencies;
  const { lifeSecondsMax, extendedLifeSecondsMax } = tokens.limits;
  const served = registry.require(coreVersion.group, coreVersion.version, 'serviceaccounts');
  const { store } = served;
  const { clock, rng } = store.dependencies;
  const completedRequest = completed(body, name, dependencies, kind);
  checkName(completedRequest, name, kind);
  const account = (await store.get(namespace, name, { caller: context })).parse();
  const uid = uidOfRequest(completedRequest, account, dependencies, context);
  const nowMs = clock.now();
  const system = { name, namespace, uid, creationTimestamp: objectTime(nowMs) };
  const managedFields = await submittedFields(completedRequest, body, store.dependencies, kind, context);
  const request = {
    ...completedRequest,
    metadata: { ...completedRequest.metadata, ...system, ...(managedFields && { managedFields }) },
  };

  const attributes = admissionAttributes({
    operation: 'CREATE',
    resource: store.groupResource,
    kind: kind.kind,
    served,
    subresource: 'token',
    namespaced: true,
    namespace,
    name,
    object: request,
    request: context,
  });
  // Mutating admission has run on the submitted body.
  const errors = validateLife(request);
  if (errors.length > 0) throw ApiError.invalid(kind, '', errors);
  await admission.validate(attributes);

  const { spec } = request;
  const bound = await boundObjects(registry, spec.boundObjectRef, { namespace, name, signal: context.signal });
  const { expirationSeconds: requested } = spec;
  if (lifeSecondsMax > 0 && requested > lifeSecondsMax) {
    context.warnings.push(`requested expiration of ${requested} seconds shortened to ${lifeSecondsMax} seconds`);
    spec.expirationSeconds = lifeSecondsMax;
  }
  // validateLife() has bounded it.
  const seconds = Number(spec.expirationSeconds);
  const { audiences } = spec;
  const isExtended = bound.pod !== undefined && seconds === podTokenSeconds && mayExtend(dependencies, audiences);
  const id = rng.uuid();
  const life = {
    id,
    audiences,
    nowSeconds: Math.floor(nowMs / 1000),
    seconds: isExtended ? extendedLifeSecondsMax : seconds,
    ...(isExtended && { warnAfterSeconds: seconds }),
  };
  const token = await issued(tokens.issue({ namespace, account: namedObject(account), ...bound }, life));
  context.auditAnnotations.set(`authentication.${dependencies.labelDomain}/issued-credential-id`, `JTI=${id}`);
  return { ...request, status: { token, expirationTimestamp: objectTime(nowMs + seconds * 1000) } };
}

/** Returns the token; throws an ApiError if an external signer did not sign it. */
async function issued(token: Promise<string>): Promise<string> {
  try {
    return await token;
  } catch (error) {
    if (!(error instanceof SignerError)) throw error;
    throw ApiError.internal(`failed to generate token: the external signer ${error.message}`, error);
  }
}

/** True if tokens for Pods are extended, and the token is for this server alone. */
function mayExtend({ tokens, audiences: own }: TokenRequestDependencies, audiences: readonly string[]): boolean {
  return tokens.limits.extendedLifeSecondsMax > 0 && audiences.every((audience) => own.includes(audience));
}

interface CompletedSpec {
  readonly audiences: readonly string[];
  expirationSeconds: number | bigint;
  readonly boundObjectRef: BoundObjectReference | null;
}

function completed(
  body: TokenRequest | undefined,
  name: string,
  dependencies: TokenRequestDependencies,
  { group, version, kind }: GroupVersionKind,
): TokenRequest & { readonly spec: CompletedSpec } {
  const request = body ?? { kind, apiVersion: `${group}/${version}`, metadata: { name } };
  const { audiences, expirationSeconds, boundObjectRef } = request.spec ?? {};
  return {
    ...request,
    spec: {
      audiences: audiences && audiences.length > 0 ? audiences : dependencies.audiences,
      expirationSeconds: expirationSeconds ?? lifeSecondsDefault,
      boundObjectRef: boundObjectRef ?? null,
    },
  };
}

/** Returns managedFields: the submitted fields, and the default of expirationSeconds. */
function submittedFields(
  { spec: { expirationSeconds }, ...request }: TokenRequest & { readonly spec: CompletedSpec },
  body: TokenRequest | undefined,
  dependencies: ResourceStore['dependencies'],
  kind: GroupVersionKind,
  context: SubresourceRequest['context'],
): Promise<ObjectMeta['managedFields']> {
  const submitted = { ...request, spec: { ...body?.spec, expirationSeconds } };
  return unstoredManagedFields(dependencies, { ...kind, subresource: 'token' }, submitted, context);
}

function checkName({ metadata }: TokenRequest, name: string, kind: GroupVersionKind): void {
  if (!metadata.name || metadata.name === name) return;
  const message = 'must match the service account name if specified';
  throw ApiError.invalid(kind, name, [fieldError.invalid('metadata.name', metadata.name, message)]);
}

/** Returns the uid of the TokenRequest, by default that of its ServiceAccount. */
function uidOfRequest(
  { metadata }: TokenRequest,
  account: KubeObject,
  { checksUid, authenticationGroup }: TokenRequestDependencies,
  { warnings, auditAnnotations }: SubresourceRequest['context'],
): string {
  const { uid = '', name = '' } = account.metadata;
  if (!metadata.uid || metadata.uid === uid) return uid;
  const problem = `the UID in the token request (${shortenedValue(metadata.uid)}) does not match the UID of the service account (${uid})`;
  if (checksUid) throw ApiError.conflict({ group: authenticationGroup, resource: 'TokenRequest' }, name, problem);
  auditAnnotations.set(`${authenticationGroup}/token-request-uid-mismatch`, problem);
  warnings.push(
    `${problem} but TokenRequestServiceAccountUIDValidation is not enabled. In the future, this will return a conflict error`,
  );
  return metadata.uid;
}

function validateLife({ spec }: TokenRequest): FieldError[] {
  const seconds = spec?.expirationSeconds ?? 0;
  const at = path('spec').child('expirationSeconds');
  if (seconds < lifeSecondsMin) {
    return [fieldError.invalid(at, seconds, 'may not specify a duration less than 10 minutes')];
  }
  if (seconds <= lifeSecondsLimit) return [];
  return [fieldError.invalid(at, seconds, 'may not specify a duration larger than 2^32 seconds')];
}

interface Bound {
  readonly pod?: NamedObject;
  readonly secret?: NamedObject;
  readonly node?: { readonly name: string; readonly uid?: string };
}

type BoundKind = 'Pod' | 'Secret' | 'Node';
const resourceOf: Readonly<Record<BoundKind, string>> = { Pod: 'pods', Secret: 'secrets', Node: 'nodes' };

async function boundObjects(
  registry: ResourceRegistry,
  reference: BoundObjectReference | null | undefined,
  account: { readonly namespace: string; readonly name: string; readonly signal: Cancellation | undefined },
): Promise<Bound> {
  if (!reference) return {};
  const { apiVersion = '', kind = '', name = '', uid = '' } = reference;
  const { group, version } = parseApiVersion(apiVersion) ?? { group: '', version: apiVersion };
  if (group !== '' || !Object.hasOwn(resourceOf, kind)) {
    throw ApiError.badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`);
  }
  const find = async (objectKind: BoundKind, objectName: string) => {
    const { store, definition } = registry.require(coreVersion.group, coreVersion.version, resourceOf[objectKind]);
    const namespace = definition.namespaced ? account.namespace : '';
    return (await store.get(namespace, objectName, { caller: account })).parse();
  };
  const object = await find(kind as BoundKind, name);
  const { serviceAccountName, nodeName }: PodSpec = kind === 'Pod' ? podSpecOf(object) : {};
  if (kind === 'Pod' && serviceAccountName !== account.name) {
    throw ApiError.badRequest(
      `cannot bind token for serviceaccount "${account.name}" to pod running with different serviceaccount name.`,
    );
  }
  if (uid !== '' && uid !== object.metadata.uid) {
    const message = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw ApiError.conflict({ group, resource: kind }, name, message);
  }
  const bound = namedObject(object);
  if (kind === 'Secret') return { secret: bound };
  if (kind === 'Node') return { node: bound };
  return { pod: bound, ...(nodeName && { node: await nodeNamed(nodeName, find) }) };
}

const podSpecOf = ({ spec }: Pod): PodSpec => spec ?? {};

/** Returns the Node of a Pod; only its name if the Node does not exist. */
async function nodeNamed(name: string, find: (kind: BoundKind, name: string) => Promise<KubeObject>) {
  try {
    return namedObject(await find('Node', name));
  } catch (error) {
    if (error instanceof ApiError && error.reason === 'NotFound') return { name };
    throw error;
  }
}

function namedObject({ metadata }: KubeObject): NamedObject {
  return { name: metadata.name ?? '', uid: metadata.uid ?? '' };
}

import type { AdmissionChain } from '../../admission/admission-chain.js';
import type { NamedObject, ServiceAccountTokens } from '../../auth/service-account-tokens.js';
import { ApiError } from '../../machinery/api-error.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { asFields, asNumber, asText, asTexts, isSet } from '../../machinery/fields.js';
import { parseApiVersion, type GroupVersionKind } from '../../machinery/gvk.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { SubresourceRequest } from '../../registry/apis/api-group.js';
import type { ResourceRegistry } from '../../registry/resource-registry.js';
import { objectTime } from '../../registry/write/system-fields.js';
import { coreVersion } from './core.version.js';

export interface TokenRequestParts {
  readonly registry: ResourceRegistry;
  readonly admission: AdmissionChain;
  readonly tokens: ServiceAccountTokens;
  /** What a token is for when the client does not say. */
  readonly audiences: readonly string[];
  readonly labelDomain: string;
  /** 0: as long as clients ask for. */
  readonly lifeSecondsMax: number;
  readonly extendsTokens: boolean;
}

const lifeSecondsDefault = 3600;
const lifeSecondsMin = 600;
const lifeSecondsLimit = 2 ** 32;
/** What the node agent asks for by itself, on behalf of clients that may not read a token a second time. */
const unattendedSeconds = 3607;
const extendedSeconds = 365 * 24 * 3600;

/** A token for a service account, bound to nothing or to one object: it ends when that goes. */
export async function issueToken(
  parts: TokenRequestParts,
  { context, namespace, name, body }: SubresourceRequest,
  kind: GroupVersionKind,
): Promise<KubeObject> {
  const { registry, admission, tokens } = parts;
  const { store } = registry.require(coreVersion.group, coreVersion.version, 'serviceaccounts');
  const { clock, rng } = store.dependencies;
  const request = completed(body, name, parts, kind);
  checkName(request, name, kind);
  const account = (await store.get(namespace, name, { signal: context.signal })).parse();
  const nowMs = clock.now();
  request.metadata = { ...request.metadata, name, namespace, uid: rng.uuid(), creationTimestamp: objectTime(nowMs) };

  const attributes = {
    operation: 'CREATE' as const,
    resource: store.groupResource,
    kind: kind.kind,
    subresource: 'token',
    namespaced: true,
    namespace,
    name,
    object: request,
    old: undefined,
    request: context,
  };
  // The subresource call has run the whole chain on the body as it was sent: only this shows what is left out there.
  const errors = validateLife(request);
  if (errors.length > 0) throw ApiError.invalid(kind, '', errors);
  await admission.validate(attributes);

  const spec = asFields(request['spec']);
  const bound = await boundObjects(registry, spec['boundObjectRef'], { namespace, name, signal: context.signal });
  const { lifeSecondsMax } = parts;
  const asked = asNumber(spec['expirationSeconds']);
  if (lifeSecondsMax > 0 && asked > lifeSecondsMax) {
    context.warnings.push(`requested expiration of ${asked} seconds shortened to ${lifeSecondsMax} seconds`);
    spec['expirationSeconds'] = lifeSecondsMax;
  }
  const seconds = asNumber(spec['expirationSeconds']);
  const audiences = asTexts(spec['audiences']);
  const isForUs = audiences.length === parts.audiences.length && audiences.every((it) => parts.audiences.includes(it));
  const isExtended = parts.extendsTokens && bound.pod !== undefined && seconds === unattendedSeconds && isForUs;
  const id = rng.uuid();
  const token = await tokens.issue(
    { namespace, account: namedObject(account), ...bound },
    {
      id,
      audiences,
      nowSeconds: Math.floor(nowMs / 1000),
      seconds: isExtended ? extendedSeconds : seconds,
      ...(isExtended && { warnAfterSeconds: seconds }),
    },
  );
  context.auditAnnotations.set(`authentication.${parts.labelDomain}/issued-credential-id`, `JTI=${id}`);
  return { ...request, status: { token, expirationTimestamp: objectTime(nowMs + seconds * 1000) } };
}

function completed(
  body: KubeObject | undefined,
  name: string,
  { audiences }: TokenRequestParts,
  { group, version, kind }: GroupVersionKind,
): KubeObject {
  const request: KubeObject = body ?? { kind, apiVersion: `${group}/${version}`, metadata: { name } };
  const { audiences: asked, expirationSeconds, boundObjectRef } = asFields(request['spec']);
  return {
    ...request,
    spec: {
      audiences: asTexts(asked).length > 0 ? asked : audiences,
      expirationSeconds: expirationSeconds ?? lifeSecondsDefault,
      boundObjectRef: boundObjectRef ?? null,
    },
  };
}

function checkName({ metadata }: KubeObject, name: string, kind: GroupVersionKind): void {
  if (!metadata.name || metadata.name === name) return;
  const message = 'must match the service account name if specified';
  throw ApiError.invalid(kind, name, [fieldError.invalid('metadata.name', metadata.name, message)]);
}

function validateLife(request: KubeObject): FieldError[] {
  const seconds = asNumber(asFields(request['spec'])['expirationSeconds']);
  const at = String(path('spec').child('expirationSeconds'));
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
  reference: unknown,
  account: { readonly namespace: string; readonly name: string; readonly signal: AbortSignal | undefined },
): Promise<Bound> {
  if (!isSet(reference)) return {};
  const { apiVersion, kind, name, uid } = asFields(reference);
  const { group, version } = parseApiVersion(asText(apiVersion)) ?? { group: '', version: asText(apiVersion) };
  const text = asText(kind);
  if (group !== '' || !Object.hasOwn(resourceOf, text)) {
    throw ApiError.badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${text}`);
  }
  const find = async (of: BoundKind, named: string) => {
    const { store, definition } = registry.require(coreVersion.group, coreVersion.version, resourceOf[of]);
    const home = definition.namespaced ? account.namespace : '';
    return (await store.get(home, named, { signal: account.signal })).parse();
  };
  const object = await find(text as BoundKind, asText(name));
  const podSpec = asFields(object['spec']);
  if (text === 'Pod' && asText(podSpec['serviceAccountName']) !== account.name) {
    throw ApiError.badRequest(
      `cannot bind token for serviceaccount "${account.name}" to pod running with different serviceaccount name.`,
    );
  }
  if (asText(uid) !== '' && asText(uid) !== object.metadata.uid) {
    const message = `the UID in the bound object reference (${asText(uid)}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw ApiError.conflict({ group, resource: text }, asText(name), message);
  }
  const found = namedObject(object);
  if (text === 'Secret') return { secret: found };
  if (text === 'Node') return { node: found };
  const nodeName = asText(podSpec['nodeName']);
  return { pod: found, ...(nodeName !== '' && { node: await nodeNamed(nodeName, find) }) };
}

/** The node of a pod may be gone already: then the token names it, and says no more. */
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

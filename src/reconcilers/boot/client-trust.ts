import { X509Certificate } from 'node:crypto';
import { decodeJson, stringifyJson } from '../../codec/json.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { asFields, asText } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { ResourceRegistry } from '../../registry/resource-registry.js';
import { pemBlocks } from '../../certificates/pem-blocks.js';
import { ensureObject } from './ensure-object.js';

/** Whose client certificates this server accepts, and from whom it takes user names in headers. */
export interface ClientTrust {
  readonly clientCaPem: string;
  readonly requestHeader:
    | {
        readonly clientCaPem: string;
        readonly allowedNames: readonly string[];
        readonly usernameHeaders: readonly string[];
        readonly uidHeaders: readonly string[];
        readonly groupHeaders: readonly string[];
        readonly extraHeaderPrefixes: readonly string[];
      }
    | undefined;
}

export const clientTrustName = 'extension-apiserver-authentication';

/** Writes the ConfigMap by which aggregated servers and controller managers authenticate as this server does. */
export async function ensureClientTrust(
  registry: ResourceRegistry,
  naming: NamingProfile,
  trust: ClientTrust,
  nowMs: number,
): Promise<void> {
  const namespace = naming.systemNamespace('system');
  const metadata = { name: clientTrustName, namespace };
  const object = (data: object): KubeObject => ({ kind: 'ConfigMap', apiVersion: 'v1', metadata, data });
  const { store } = registry.require('', 'v1', 'configmaps');
  const found = store.cache.get(store.keyOf(namespace, clientTrustName));
  const before = found && !found.corruption ? asFields(found.parse()['data']) : {};
  const data = combinedTrust(before, trust, nowMs);
  await ensureObject(registry, { resource: 'configmaps', keeps: ['data'], object: object(data) });
}

const lists = {
  allowedNames: 'requestheader-allowed-names',
  extraHeaderPrefixes: 'requestheader-extra-headers-prefix',
  groupHeaders: 'requestheader-group-headers',
  uidHeaders: 'requestheader-uid-headers',
  usernameHeaders: 'requestheader-username-headers',
} as const;

/**
 * The data of the ConfigMap: what other servers have published stays, as servers of one cluster may have different
 * flags; certificates go when they have expired.
 */
export function combinedTrust(
  before: Readonly<Record<string, unknown>>,
  own: ClientTrust,
  nowMs: number,
): Record<string, string> {
  const client = combinedCertificates(asText(before['client-ca-file']), own.clientCaPem, nowMs);
  const proxy = combinedCertificates(
    asText(before['requestheader-client-ca-file']),
    own.requestHeader?.clientCaPem ?? '',
    nowMs,
  );
  const data: Record<string, string> = client === '' ? {} : { 'client-ca-file': client };
  if (proxy === '') return data;
  data['requestheader-client-ca-file'] = proxy;
  for (const field of Object.keys(lists) as (keyof typeof lists)[]) {
    const values = new Set([...textsIn(asText(before[lists[field]])), ...(own.requestHeader?.[field] ?? [])]);
    if (field !== 'uidHeaders' || values.size > 0) data[lists[field]] = stringifyJson([...values]);
  }
  return data;
}

/** Clocks may differ by so much. */
const slackMs = 5 * 60_000;

function combinedCertificates(before: string, own: string, nowMs: number): string {
  const certificates = new Map<string, X509Certificate>();
  for (const { type, bytes } of pemBlocks(`${before}\n${own}`)) {
    const certificate = type === 'CERTIFICATE' ? parsed(bytes) : undefined;
    if (certificate && Date.parse(certificate.validTo) > nowMs - slackMs) {
      certificates.set(certificate.fingerprint256, certificate);
    }
  }
  return [...certificates.values()].map(String).join('');
}

function parsed(bytes: Buffer): X509Certificate | undefined {
  try {
    return new X509Certificate(bytes);
  } catch {
    return undefined;
  }
}

/** A value that is no list of texts says nothing. */
function textsIn(json: string): string[] {
  try {
    const value = json === '' ? [] : decodeJson(json);
    return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
  } catch {
    return [];
  }
}

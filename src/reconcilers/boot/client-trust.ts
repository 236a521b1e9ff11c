import type { X509Certificate } from 'node:crypto';
import type { ConfigMap } from '../../catalog/types/core.v1.js';
import { decodeJson } from '../../codec/json.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { dataBytesMax } from '../../modules/core/config-map.strategy.js';
import { sortedJson } from '../../patch/apply/json-text.js';
import type { ResourceRegistry } from '../../registry/resource-registry.js';
import { parseCertificate } from '../../certificates/pem.js';
import { pemBlocks } from '../../certificates/pem-blocks.js';
import { ensureObject } from './ensure-object.js';

/** CAs of client certificates that this server accepts, and its --requestheader settings. */
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

/** Writes the ConfigMap from which aggregated API servers and controller managers read how to authenticate clients. */
export async function ensureClientTrust(
  registry: ResourceRegistry,
  naming: NamingProfile,
  trust: ClientTrust,
  nowMs: number,
): Promise<void> {
  const namespace = naming.systemNamespace('system');
  const metadata = { name: clientTrustName, namespace };
  const { store } = registry.require('', 'v1', 'configmaps');
  const found = store.cache.get(store.keyOf(namespace, clientTrustName));
  const before: ConfigMap | undefined = found && !found.corruption ? found.parse() : undefined;
  const data = trustData(before?.data ?? {}, trust, nowMs);
  const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata, data };
  await ensureObject(registry, { resource: 'configmaps', keeps: ['data'], object });
}

const lists = {
  allowedNames: 'requestheader-allowed-names',
  extraHeaderPrefixes: 'requestheader-extra-headers-prefix',
  groupHeaders: 'requestheader-group-headers',
  uidHeaders: 'requestheader-uid-headers',
  usernameHeaders: 'requestheader-username-headers',
} as const;

/**
 * Returns the data of the ConfigMap. If the settings of all servers do not fit into one, only those of this server: the
 * others add theirs again.
 */
export function trustData(
  before: Readonly<Record<string, string>>,
  own: ClientTrust,
  nowMs: number,
): Record<string, string> {
  const combined = combinedTrust(before, own, nowMs);
  const bytes = Object.values(combined).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return bytes <= dataBytesMax ? combined : combinedTrust({}, own, nowMs);
}

/**
 * Adds the settings of this server to the data of the ConfigMap. Those of other servers stay, since servers of one cluster
 * may have different flags. Expired certificates are removed.
 */
export function combinedTrust(
  before: Readonly<Record<string, string>>,
  own: ClientTrust,
  nowMs: number,
): Record<string, string> {
  const client = combinedCertificates(before['client-ca-file'] ?? '', own.clientCaPem, nowMs);
  const proxy = combinedCertificates(
    before['requestheader-client-ca-file'] ?? '',
    own.requestHeader?.clientCaPem ?? '',
    nowMs,
  );
  const data: Record<string, string> = client === '' ? {} : { 'client-ca-file': client };
  if (proxy === '') return data;
  data['requestheader-client-ca-file'] = proxy;
  for (const field of Object.keys(lists) as (keyof typeof lists)[]) {
    const values = new Set([...stringsIn(before[lists[field]] ?? ''), ...(own.requestHeader?.[field] ?? [])]);
    // Spelled as kube-apiserver does, empty lists included: servers that share the ConfigMap compare its texts.
    data[lists[field]] = sortedJson([...values]);
  }
  return data;
}

/** Certificates are removed this long after they expire, since clocks of servers differ. */
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
    return parseCertificate(bytes);
  } catch {
    return undefined;
  }
}

/** Parses a JSON list of strings. Returns an empty list for any other text. */
function stringsIn(json: string): string[] {
  try {
    const value = json === '' ? [] : decodeJson(json);
    return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
  } catch {
    return [];
  }
}

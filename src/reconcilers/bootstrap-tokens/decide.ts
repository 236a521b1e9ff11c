import type { ConfigMap } from '../../catalog/types/core.v1.js';
import { dataBytesMax } from '../../modules/core/config-map.strategy.js';

export const clusterInfoName = 'cluster-info';

const signaturePrefix = 'jws-kubeconfig-';
/** The signatures of so many tokens, their keys and their entries in managedFields fit into a request of etcd. */
const signaturesMax = 5000;

export function signatureKey(tokenId: string): string {
  return signaturePrefix + tokenId;
}

/** Returns the text to sign; undefined if the ConfigMap has none or cannot be changed. */
export function signedTextOf({ data, immutable }: ConfigMap): string | undefined {
  return immutable === true || !Object.hasOwn(data ?? {}, 'kubeconfig') ? undefined : data!['kubeconfig'];
}

/**
 * Sets the signatures of cluster-info by token id, and removes all others. Every other key is kept. Returns the same
 * object if there is nothing to do.
 */
export function withSignatures(info: ConfigMap, signatures: ReadonlyMap<string, string>): ConfigMap {
  const before = info.data ?? {};
  const others = Object.entries(before).filter(([key]) => !key.startsWith(signaturePrefix));
  const wanted = [...signatures].map(([id, signature]) => [signatureKey(id), signature] as const);
  const isSame =
    others.length + wanted.length === Object.keys(before).length &&
    wanted.every(([key, signature]) => before[key] === signature);
  return isSame ? info : { ...info, data: Object.fromEntries([...others, ...wanted]) };
}

/**
 * Returns the number of signatures that fit into cluster-info beside its other data, so that many tokens do not make it
 * invalid for all of them.
 */
export function roomForSignatures({ data = {}, binaryData = {} }: ConfigMap, signatureBytes: number): number {
  let bytes = 0;
  for (const [key, value] of Object.entries(data)) {
    if (!key.startsWith(signaturePrefix)) bytes += Buffer.byteLength(value);
  }
  for (const value of Object.values(binaryData)) bytes += Buffer.byteLength(value, 'base64');
  return Math.min(signaturesMax, Math.floor(Math.max(0, dataBytesMax - bytes) / signatureBytes));
}

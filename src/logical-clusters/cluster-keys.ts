import { generateKeyPairSync } from 'node:crypto';
import { makeTokenKeys, type TokenKeys } from '../auth/token-keys.js';
import { noRevision } from '../machinery/revision.js';
import type { KvStore } from '../storage/kv-store.js';

// Keys of logical clusters, beside those of the root, for a root under /registry:
//   /registry-clusters/<uid>/registry/...   the objects, as the root has them under /registry/
//   /registry-clusters/<uid>/token-key      the key of the service account tokens

const keysPerWrite = 100;

/** Returns the prefix of all keys of all logical clusters. `etcdPrefix` is that of the root. */
const clustersPrefix = (etcdPrefix: string): string => `${etcdPrefix}-clusters/`;

export const clusterPrefix = (etcdPrefix: string, uid: string): string => `${clustersPrefix(etcdPrefix)}${uid}/`;

/** Returns the uids for which the store has keys. */
export async function storedClusters(store: KvStore, etcdPrefix: string): Promise<string[]> {
  const prefix = clustersPrefix(etcdPrefix);
  const uids: string[] = [];
  for (let from = prefix; ;) {
    const { items } = await store.range(prefix, { from, limit: 1 });
    const key = items[0]?.key;
    if (key === undefined) return uids;
    const uid = key.slice(prefix.length, key.indexOf('/', prefix.length));
    uids.push(uid);
    // The first key behind those of the cluster: "0" follows "/".
    from = `${prefix}${uid}0`;
  }
}

export async function deleteClusterKeys(store: KvStore, prefix: string): Promise<void> {
  for (;;) {
    const { items } = await store.range(prefix, { limit: keysPerWrite });
    if (items.length === 0) return;
    await store.txn(
      [],
      items.map(({ key }) => ({ type: 'delete', key })),
    );
  }
}

/** Returns the key that signs the service account tokens of a cluster and of no other. It is generated once. */
export async function clusterTokenKeys(store: KvStore, prefix: string): Promise<TokenKeys> {
  const known = await storedTokenKeys(store, prefix);
  if (known) return known;
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const value = Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const key = tokenKeyOf(prefix);
  await store.txn([{ key, modRevision: noRevision }], [{ type: 'put', key, value }]);
  return (await storedTokenKeys(store, prefix))!;
}

/** Returns the same key; undefined for a cluster that was never awake. */
export async function storedTokenKeys(store: KvStore, prefix: string): Promise<TokenKeys | undefined> {
  const name = tokenKeyOf(prefix);
  const { item } = await store.get(name);
  return item && makeTokenKeys({ name, pem: item.value.toString() });
}

const tokenKeyOf = (prefix: string) => `${prefix}token-key`;

import type { KvStore } from '../../src/storage/kv-store.js';
import { History, type State } from '../simulation/history.js';
import type { Change } from './record.js';
import { isOurs, namespace, versionOf } from './versions.js';
import type { Version } from './write-model.js';

/** Reads the changes of the writers' objects from the store's log. */
export async function storeLog(store: KvStore): Promise<Change[]> {
  return changesOfWriters(await History.of(store));
}

/** Returns the changes of the writers' objects. */
export function changesOfWriters({ changes }: History): Change[] {
  const prefix = `configmaps/${namespace}/`;
  const known = new Map<State, Version>();
  const versionAt = (state: State | undefined) => {
    if (!state) return undefined;
    let version = known.get(state);
    if (!version) known.set(state, (version = versionOf(state.object)));
    return version;
  };
  return changes
    .filter(({ key }) => key.startsWith(prefix) && isOurs(key.slice(prefix.length)))
    .map(({ revision, key, before, after }) => ({
      revision,
      key: key.slice(prefix.length),
      before: versionAt(before),
      after: versionAt(after),
    }));
}

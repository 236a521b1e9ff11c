import { SharedWatchStore } from '../../src/storage/decorators/shared-watches.js';
import type { KvStore, ValueReader } from '../../src/storage/kv-store.js';
import { Channel } from '../../src/workers/channel.js';
import { RemoteStore } from '../../src/workers/remote-store.js';
import { hostStore } from '../../src/workers/store-host.js';
import { socketPair } from './socket-pair.js';

/**
 * A store as a worker has it: by a channel to the process that has opened it, and by `values`, if it reads these itself.
 * close() closes the opened one too.
 */
export async function remoteStore(opened: KvStore, values?: ValueReader): Promise<KvStore> {
  const [toWorker, toHost] = await socketPair();
  hostStore(new SharedWatchStore(opened), new Channel(toWorker));
  const remote = new RemoteStore(new Channel(toHost), values);
  const close = remote.close.bind(remote);
  return Object.assign(remote, {
    async close() {
      await close();
      await opened.close();
      toHost.destroy();
    },
  });
}

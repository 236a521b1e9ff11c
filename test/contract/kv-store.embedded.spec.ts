import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { valueBytesMax } from '../../src/storage/backends/call-rules.js';
import { EmbeddedStore } from '../../src/storage/backends/embedded/embedded-store.js';
import { kvStoreContract } from './kv-store.contract.js';

kvStoreContract(
  'embedded',
  async () => {
    const directory = await mkdtemp(join(tmpdir(), 'keelson-contract-'));
    let store = await EmbeddedStore.open({ directory });
    return {
      store,
      reopen: async () => {
        await store.close();
        store = await EmbeddedStore.open({ directory });
        return store;
      },
      dispose: () => rm(directory, { recursive: true, force: true }),
    };
  },
  { valueBytesMax, isDurable: true },
);

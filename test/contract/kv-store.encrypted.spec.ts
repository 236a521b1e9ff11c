import { setTimeout as sleep } from 'node:timers/promises';
import { keyedProvider } from '../../src/encryption/providers/keyed-provider.js';
import { systemClock } from '../../src/std/clock.js';
import { SeededRng } from '../../src/std/rng.js';
import { valueBytesMax } from '../../src/storage/backends/call-rules.js';
import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';
import { TransformedStore } from '../../src/storage/decorators/transformed-store.js';
import type { Write } from '../../src/storage/kv-store.js';
import type { ValueTransformer, ValueTransforms } from '../../src/storage/value-transforms.js';
import { kvStoreContract } from './kv-store.contract.js';

// Encryption changes no order, no revision and no event, also while some values wait for another process.
const secret = Buffer.alloc(32, 7);
const { transformer } = keyedProvider('aesgcm', [{ name: 'k', secret }]);

const all = (one: ValueTransformer): ValueTransforms => ({ of: () => one, addResource: () => undefined });

function sometimesSlow(rng: SeededRng): ValueTransformer {
  return {
    async toStorage(value, key) {
      await sleep(rng.below(2));
      return transformer.toStorage(value, key);
    },
    fromStorage(value, key) {
      return rng.below(3) === 0
        ? sleep(rng.below(4)).then(() => transformer.fromStorage(value, key))
        : transformer.fromStorage(value, key);
    },
  };
}

// The encrypted value is larger by the name of the key, the nonce and the tag.
const facts = { valueBytesMax: valueBytesMax - 30, isDurable: false };

kvStoreContract(
  'encrypted',
  async () => ({ store: new TransformedStore(new MemoryStore(), all(transformer), systemClock) }),
  facts,
);

kvStoreContract(
  'encrypted by a process that is slow at times',
  async () => {
    const transforms = all(sometimesSlow(new SeededRng(11)));
    return { store: new TransformedStore(new MemoryStore(), transforms, systemClock) };
  },
  facts,
);

const summarized = { type: 'put', key: '/a', value: Buffer.from('v'), summarize: () => Buffer.from('plain') } as const;

test('the summary of an encrypted value is not stored', async () => {
  const inner = new MemoryStore();
  let sent: readonly Write[] = [];
  const txn = inner.txn.bind(inner);
  inner.txn = (compares, writes, options) => {
    sent = writes;
    return txn(compares, writes, options);
  };
  const store = new TransformedStore(inner, all(transformer), systemClock);
  await store.txn([], [summarized]);
  await store.close();
  expect(sent).toEqual([{ type: 'put', key: '/a', value: expect.any(Buffer) as Buffer }]);
});

import { systemClock } from '../../src/std/clock.js';
import { SeededRng } from '../../src/std/rng.js';
import { valueBytesMax } from '../../src/storage/backends/call-rules.js';
import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';
import { FaultyStore } from '../../src/storage/decorators/faulty-store.js';
import { MeasuredStore } from '../../src/storage/decorators/measured-store.js';
import { kvStoreContract } from './kv-store.contract.js';

// Delayed calls, lost connections and measuring are within the contract.
const plan = { clock: systemClock, delay: { oneIn: 10, msMax: 2 }, watchCut: { oneIn: 3, msMax: 5 } };

kvStoreContract(
  'slow and cut off',
  async () => {
    const faulty = new FaultyStore(new MemoryStore(), { ...plan, rng: new SeededRng(7) });
    return { store: new MeasuredStore(faulty, () => undefined, systemClock) };
  },
  { valueBytesMax, isDurable: false },
);

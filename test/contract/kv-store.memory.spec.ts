import { valueBytesMax } from '../../src/storage/backends/call-rules.js';
import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';
import { kvStoreContract } from './kv-store.contract.js';

kvStoreContract('memory', async () => ({ store: new MemoryStore() }), { valueBytesMax, isDurable: false });

// A process that writes to an embedded store with 32 writers until it is killed, and prints acknowledged writes.
// usage: node embedded-writer.mjs DIRECTORY ROUND. Requires the built server.
// Lines: "open", "put REVISION KEY VALUE", "delete REVISION KEY", "compacted REVISION", "failed CODE MESSAGE", "read
// REVISION" (after a failure).
import { EmbeddedStore } from '../../dist/src/storage/backends/embedded/embedded-store.js';

const [directory, round] = process.argv.slice(2);
const say = (line) => process.stdout.write(`${line}\n`);

async function write(store, writer) {
  for (let i = 0; ; i++) {
    // Each writer has keys of its own, so that it knows their values, and one that all writers share.
    const key = i % 10 === 0 ? '/shared' : `/writer-${writer}/${i % 7}`;
    const isDelete = i % 5 === 4;
    const value = `${round}-${writer}-${i}-${'x'.repeat((i * 37) % 6_000)}`;
    const change = isDelete ? { type: 'delete', key } : { type: 'put', key, value: Buffer.from(value) };
    const before = (await store.get(key)).item;
    const result = await store.txn([{ key, modRevision: before?.modRevision ?? 0 }], [change]);
    if (result.succeeded && isDelete && before) say(`delete ${result.revision} ${key}`);
    if (result.succeeded && !isDelete) say(`put ${result.revision} ${key} ${value}`);
  }
}

async function compact(store) {
  for (;;) {
    const revision = await store.revision();
    await new Promise((resolve) => setTimeout(resolve, 150));
    await store.compact(revision);
    say(`compacted ${revision}`);
  }
}

let store;
try {
  store = await EmbeddedStore.open({ directory });
  say('open');
  await Promise.all([compact(store), ...Array.from({ length: 32 }, (_, writer) => write(store, writer))]);
} catch (error) {
  say(`failed ${error.code} ${error.message}`);
  // All consequences of the failure have happened by then. Data can still be read.
  await new Promise((resolve) => setTimeout(resolve, 50));
  if (store) say(`read ${(await store.range('/')).revision}`);
  process.exit();
}

import type { KvStore, Write } from '../../src/storage/kv-store.js';
import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';
import { startKeelson, type Keelson } from '../../src/testing.js';
import { HttpClient } from '../harness/http-client.js';

const pods = '/api/v1/namespaces/default/pods';
const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };

/** A Pod without a node is deleted by two writes: one sets deletionTimestamp, the other removes it. */
const announcesEnd = (write: Write) =>
  write.type === 'put' &&
  write.key.endsWith('/pods/default/p') &&
  Buffer.from(write.value).includes('deletionTimestamp');

let keelson: Keelson;
let admin: HttpClient;
let between: (() => Promise<void>) | undefined;

beforeEach(async () => {
  between = undefined;
  const inner = new MemoryStore();
  const store: KvStore = {
    get: (...args) => inner.get(...args),
    range: (...args) => inner.range(...args),
    watch: (...args) => inner.watch(...args),
    revision: (...args) => inner.revision(...args),
    compact: (revision) => inner.compact(revision),
    close: () => inner.close(),
    async txn(compares, writes, options) {
      const result = await inner.txn(compares, writes, options);
      const action = between;
      if (result.succeeded && action && writes.some(announcesEnd)) {
        between = undefined;
        await action();
      }
      return result;
    },
  };
  keelson = await startKeelson({ store, reconciles: false });
  admin = new HttpClient({ url: keelson.url, ca: keelson.ca, ...keelson.client });
});
afterEach(async () => {
  admin.close();
  await keelson.stop();
});

const finishByUpdate = async () => {
  const { code } = await admin.patch(`${pods}/p/status`, { status: { message: 'late' } });
  expect(code).toBe(200);
  expect((await admin.get(`${pods}/p`)).code).toBe(404);
};

it('DELETE of a Pod that another writer removes meanwhile succeeds (200)', async () => {
  const { body } = await admin.post(pods, pod);
  between = finishByUpdate;
  const answer = await admin.delete(`${pods}/p`);
  expect([answer.code, answer.body.metadata.uid]).toEqual([200, body.metadata.uid]);
});

it('DELETE of a Pod that is replaced meanwhile leaves the new Pod', async () => {
  await admin.post(pods, pod);
  let replacedBy = '';
  between = async () => {
    await finishByUpdate();
    replacedBy = (await admin.post(pods, pod)).body.metadata.uid as string;
  };
  expect((await admin.delete(`${pods}/p`)).code).toBe(200);
  expect((await admin.get(`${pods}/p`)).body.metadata).toEqual(expect.objectContaining({ uid: replacedBy }));
});

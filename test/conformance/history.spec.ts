import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';
import type { Answer, HttpClient } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { configMap } from './case.js';

// Old versions are served while the store has them, and answered with 410 after compaction.
const configMaps = '/api/v1/namespaces/default/configmaps';
const writes = 40;
/** More than the cache keeps. */
const manyWrites = 320;
const config = { limits: { historyEventsPerResourceMax: 300, snapshotRetentionMs: 0 } };

describe.each(['memory', 'embedded'] as const)('history on %s', (storeName) => {
  let server: TestServer;
  let admin: HttpClient;
  let first: Answer;
  let page: Answer;
  let undo: () => Promise<void>;

  // One server writes and stops; the tested one starts later, and knows older versions from the store only.
  beforeAll(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'keelson-history-'));
    const store = storeName === 'memory' ? new MemoryStore() : undefined;
    const start = () =>
      startTestServer({ store: storeName, naming: 'kubernetes' }, { config, directory, ...(store && { store }) });
    const before = await start();
    const writer = before.admin;
    for (const name of ['a', 'b', 'c'])
      await writer.post(configMaps, configMap(name, { metadata: { labels: { l: '1' } } }));
    first = await writer.get(`${configMaps}?labelSelector=l`);
    page = await writer.get(`${configMaps}?labelSelector=l&limit=1`);
    await writer.delete(`${configMaps}/c`);
    for (let n = 0; n < writes; n++) await writer.patch(`${configMaps}/a`, { data: { n: String(n) } });
    await before.stop();
    server = await start();
    admin = server.client({ ...server.keelson.client, protocol: 'h2' });
    undo = async () => {
      await server.stop();
      await store?.close();
      await rm(directory, { recursive: true, force: true });
    };
  });
  afterAll(() => undo());

  const exactly = () => `${configMaps}?labelSelector=l&resourceVersionMatch=Exact&resourceVersion=${versionOf(first)}`;
  const onward = (token: string) => admin.get(`${configMaps}?labelSelector=l&continue=${token}`);
  const watchFrom = (query = '') =>
    admin.watch(`${configMaps}?watch=1&labelSelector=l&resourceVersion=${versionOf(first)}${query}`);

  describe('that the store still has', () => {
    it('can be watched from', async () => {
      const watch = await watchFrom();
      await admin.patch(`${configMaps}/b`, { data: { n: 'end' } });
      const events = await watch.until(({ object }) => object.data?.n === 'end');
      watch.close();
      expect(events[0]).toMatchObject({ type: 'DELETED', object: { metadata: { name: 'c' } } });
      expect(events.slice(1).map(({ object }) => object.data.n)).toEqual([
        ...Array.from({ length: writes }, (_, n) => String(n)),
        'end',
      ]);
    });

    it('can be listed with Exact', async () => {
      const { body } = await admin.get(exactly());
      expect(body).toEqual(first.body);
    });

    it('can be paged through', async () => {
      const { body } = await onward(page.body.metadata.continue);
      expect(body.metadata.resourceVersion).toBe(versionOf(page));
      expect(namesIn(body)).toEqual(['b', 'c']);
    });
  });

  describe('that the store has and the cache does not', () => {
    beforeAll(async () => {
      for (let n = 0; n < manyWrites; n++) await admin.patch(`${configMaps}/a`, { data: { n: String(n) } });
    });

    it('can be watched from, and continues with new events', async () => {
      const watch = await watchFrom();
      await admin.patch(`${configMaps}/a`, { data: { n: 'last' } });
      const events = await watch.until(({ type, object }) => type === 'ERROR' || object.data?.n === 'last');
      watch.close();
      expect(events.filter(({ type }) => type === 'ERROR')).toEqual([]);
      const ofA = events.filter(({ object }) => object.metadata.name === 'a');
      expect(ofA.map(({ object }) => object.data.n)).toEqual([
        ...Array.from({ length: writes }, (_, n) => String(n)),
        ...Array.from({ length: manyWrites }, (_, n) => String(n)),
        'last',
      ]);
    });
  });

  describe('that was compacted', () => {
    beforeAll(async () => {
      const { store } = server.keelson.components;
      await store.compact(await store.revision());
    });

    it('cannot be watched from: the stream has an ERROR (410)', async () => {
      const watch = await watchFrom('&allowWatchBookmarks=true');
      const [event, ...more] = await watch.rest();
      expect(more).toEqual([]);
      expect(event).toMatchObject({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } });
      expect(event!.object.message).toMatch(new RegExp(`^too old resource version: ${versionOf(first)} \\(\\d+\\)$`));
      expect(await watch.ended).toBe('complete');
    });

    it('cannot be listed (410)', async () => {
      const { code, body } = await admin.get(exactly());
      expect([code, body.reason]).toEqual([410, 'Expired']);
      expect(body.message).toBe('The resourceVersion for the provided list is too old.');
    });

    it('cannot be paged through: 410 with a token to continue at the latest version', async () => {
      const { code, body } = await onward(page.body.metadata.continue);
      expect([code, body.reason]).toEqual([410, 'Expired']);
      expect(body.message).toMatch(/^The provided continue parameter is too old to display a consistent list result/);
      const rest = await onward(body.metadata.continue);
      expect(rest.code).toBe(200);
      expect(namesIn(rest.body)).toEqual(['b']);
      expect(Number(versionOf(rest))).toBeGreaterThan(Number(versionOf(first)));
    });

    it('is accepted as NotOlderThan', async () => {
      const { body } = await admin.get(`${configMaps}?labelSelector=l&resourceVersion=${versionOf(first)}`);
      expect(namesIn(body)).toEqual(['a', 'b']);
    });
  });
});

describe.each([
  [true, 200],
  [false, 410],
])('a version that only the cache has, with the feature gate of its snapshots %s', (ListFromCacheSnapshot, code) => {
  it('is listed or answered with 410', async () => {
    const memory = { store: 'memory', naming: 'kubernetes' } as const;
    const { admin, keelson, stop } = await startTestServer(memory, {
      config: { featureGates: { ListFromCacheSnapshot } },
      reconciles: false,
    });
    try {
      for (const name of ['a', 'b']) await admin.post(configMaps, configMap(name));
      const page = await admin.get(`${configMaps}?limit=1`);
      await admin.patch(`${configMaps}/a`, { data: { n: '1' } });
      const { store } = keelson.components;
      await store.compact(await store.revision());
      const exactly = `${configMaps}?resourceVersionMatch=Exact&resourceVersion=${versionOf(page)}`;
      const onward = `${configMaps}?continue=${page.body.metadata.continue}`;
      expect([(await admin.get(exactly)).code, (await admin.get(onward)).code]).toEqual([code, code]);
    } finally {
      await stop();
    }
  });
});

const versionOf = ({ body }: Answer): string => body.metadata.resourceVersion;
const namesIn = (list: { items: { metadata: { name: string } }[] }) => list.items.map(({ metadata }) => metadata.name);

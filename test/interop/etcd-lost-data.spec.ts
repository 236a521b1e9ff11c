import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiServers } from '../../scripts/faults/api-servers.js';
import { EtcdMembers } from '../../scripts/faults/etcd-members.js';
import type { ApiFailure } from '../../scripts/simulation/api.js';
import { describeWithEtcd } from '../harness/etcd.js';
import { eventually } from '../harness/eventually.js';

const place = { resource: 'configmaps', namespace: 'default' } as const;
const map = (name: string) => ({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name } });
const failureOf = (answer: Promise<unknown>) =>
  answer.then(
    () => undefined,
    (error: ApiFailure) => error,
  );

describeWithEtcd('a server whose etcd lost its data', () => {
  const directory = mkdtempSync(join(tmpdir(), 'keelson-lost-data-'));
  let etcd: EtcdMembers;
  let servers: ApiServers;
  beforeAll(async () => {
    etcd = await EtcdMembers.start(join(directory, 'etcd'), 1);
    servers = await ApiServers.start(directory, etcd, { servers: 1, workers: 1 });
  });
  afterAll(async () => {
    await servers?.stop();
    await etcd?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('serves neither its memory nor the empty etcd, writes nothing, and says what to do', async () => {
    const [server] = servers.servers;
    const { api, process } = server!;
    for (let n = 0; n < 20; n++) await api.create(place, map(`map-${n}`));
    await etcd.loseEverything();
    const refusal = await eventuallyRefused(() => api.get({ ...place, name: 'map-0' }, {}));
    expect([refusal.code, refusal.reason]).toEqual([503, 'ServiceUnavailable']);
    expect(refusal.message).toMatch(/is at revision \d+, but etcd had acknowledged revision \d+/);
    for (const attempt of [
      () => api.get({ ...place, name: 'map-0' }, { resourceVersion: '0' }),
      () => api.list({ ...place, query: {}, encoding: 'json', selects: () => true }, { resourceVersion: '0' }),
      () => api.create(place, map('new')),
      () => api.patch({ ...place, name: 'map-0' }, 'merge', { data: { a: 'b' } }),
      () => api.remove({ ...place, name: 'map-0' }, {}),
    ])
      expect(await failureOf(attempt())).toMatchObject({ code: 503, reason: 'ServiceUnavailable' });
    expect(await api.isReady()).toBe(false);
    expect(process.output).toContain('etcd lost acknowledged writes or is another cluster; restore it');
    const store = await etcd.openStore();
    const { items } = await store.range('/registry/').finally(() => store.close());
    expect(items).toEqual([]);
  });

  it('serves what etcd has after a restart', async () => {
    const [server] = servers.servers;
    await servers.restart(server!);
    const failure = await failureOf(server!.api.get({ ...place, name: 'map-0' }, {}));
    expect(failure).toMatchObject({ code: 404, reason: 'NotFound' });
    await server!.api.create(place, map('map-0'));
  });
});

/** Waits for the refusal that names the revisions; until then etcd starts. */
async function eventuallyRefused(ask: () => Promise<unknown>): Promise<ApiFailure> {
  let failure: ApiFailure | undefined;
  await eventually('the server notices that etcd lost its data', async () => {
    failure = await failureOf(ask());
    return failure?.message.includes('acknowledged') === true;
  });
  return failure!;
}

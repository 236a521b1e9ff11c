import { systemClock } from '../../src/std/clock.js';
import { forEachConcurrent } from '../../src/std/for-each-concurrent.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

const memory = { store: 'memory', naming: 'kubernetes' } as const;
const namespaces = ['default', 'other'];
const pods = 800;
const nodes = 80;
const names = ({ items }: { items: { metadata: { namespace: string; name: string } }[] }) =>
  items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);

/** More Pods than a list scans, so that lists by node or label use an index. */
describe('lists by a selectable field or a label', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer(memory, { reconciles: false });
    await server.admin.post('/api/v1/namespaces', { metadata: { name: 'other' } });
    for (const namespace of namespaces) {
      await server.admin.post(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'default' } });
    }
    await forEachConcurrent(
      Array.from({ length: pods }, (_, number) => number),
      { concurrency: 16, clock: systemClock },
      async (number) => {
        const { code } = await server.admin.post(`/api/v1/namespaces/${namespaces[number % 2]}/pods`, podOn(number));
        expect(code).toBe(201);
      },
    );
  });
  afterAll(() => server?.stop());

  const podOn = (number: number) => ({
    metadata: { name: `p${String(number).padStart(4, '0')}`, labels: { app: `app-${number % nodes}` } },
    spec: {
      nodeName: `node-${number % nodes}`,
      automountServiceAccountToken: false,
      containers: [{ name: 'c', image: 'i' }],
    },
  });
  const list = async (query: string, path = '/api/v1/pods') => (await server.admin.get(`${path}?${query}`)).body;
  const expected = (node: number, namespace?: string) =>
    Array.from({ length: pods / nodes }, (_, index) => node + index * nodes)
      .map((number) => `${namespaces[number % 2]}/p${String(number).padStart(4, '0')}`)
      .filter((name) => namespace === undefined || name.startsWith(`${namespace}/`))
      .sort();

  it('spec.nodeName selects the Pods of one node, over all namespaces and in one', async () => {
    expect(names(await list('fieldSelector=spec.nodeName%3Dnode-7'))).toEqual(expected(7));
    expect(names(await list('fieldSelector=spec.nodeName%3Dnode-7', '/api/v1/namespaces/other/pods'))).toEqual(
      expected(7, 'other'),
    );
    expect(names(await list('fieldSelector=spec.nodeName%3Dnode-none'))).toEqual([]);
  });

  it('pages by spec.nodeName contain each Pod once, also while Pods of the node are deleted', async () => {
    const seen: string[] = [];
    let page = await list('fieldSelector=spec.nodeName%3Dnode-4&limit=3');
    await server.admin.delete('/api/v1/namespaces/default/pods/p0724?gracePeriodSeconds=0');
    for (;;) {
      seen.push(...names(page));
      if (!page.metadata.continue) break;
      page = await list(
        `fieldSelector=spec.nodeName%3Dnode-4&limit=3&continue=${encodeURIComponent(page.metadata.continue)}`,
      );
    }
    expect(seen).toEqual(expected(4));
    expect(names(await list('fieldSelector=spec.nodeName%3Dnode-4'))).toEqual(
      expected(4).filter((name) => name !== 'default/p0724'),
    );
  });

  it('metadata.namespace over all namespaces selects one namespace, also in pages', async () => {
    const whole = names(await list('fieldSelector=metadata.namespace%3Dother'));
    expect(whole).toEqual(names(await list('', '/api/v1/namespaces/other/pods')));
    const first = await list('fieldSelector=metadata.namespace%3Dother&limit=150');
    const second = await list(
      `fieldSelector=metadata.namespace%3Dother&limit=500&continue=${encodeURIComponent(first.metadata.continue)}`,
    );
    expect([...names(first), ...names(second)]).toEqual(whole);
    expect(names(await list('fieldSelector=metadata.namespace%3Dnone'))).toEqual([]);
  });

  it('an index includes Pods that are bound later', async () => {
    const unbound = { ...podOn(5), metadata: { name: 'late' } };
    await server.admin.post('/api/v1/namespaces/default/pods', {
      ...unbound,
      spec: { ...unbound.spec, nodeName: undefined },
    });
    expect(names(await list('fieldSelector=spec.nodeName%3D'))).toEqual(['default/late']);
    await server.admin.post('/api/v1/namespaces/default/pods/late/binding', {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name: 'late' },
      target: { kind: 'Node', name: 'node-5' },
    });
    expect(names(await list('fieldSelector=spec.nodeName%3D'))).toEqual([]);
    expect(names(await list('fieldSelector=spec.nodeName%3Dnode-5'))).toContain('default/late');
  });

  it('repeated lists by a label read only the Pods with it, and follow changes of labels', async () => {
    const query = 'labelSelector=app%3Dapp-9';
    const pods = expected(9);
    const read = async () => {
      const { text } = await server.admin.get('/metrics');
      const counts = text.matchAll(/^apiserver_cache_list_fetched_objects_total\{[^}]*"pods"[^}]*\} (\d+)$/gm);
      return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
    };
    for (let before = 0, after = await read(); after - before !== pods.length;) {
      expect(names(await list(query))).toEqual(pods);
      [before, after] = [after, await read()];
    }
    expect(names(await list(query, '/api/v1/namespaces/other/pods'))).toEqual(expected(9, 'other'));
    const [namespace, name] = pods[0]!.split('/');
    await server.admin.patch(`/api/v1/namespaces/${namespace}/pods/${name}`, { metadata: { labels: { app: null } } });
    expect(names(await list(query))).toEqual(pods.slice(1));
  });
});

describe('bounds of watches', () => {
  let server: TestServer;
  beforeAll(async () => {
    const config = {
      limits: { watchesMax: 5, watchesPerUserMax: 3 },
      authorization: { modes: ['AlwaysAllow'] },
    } as const;
    server = await startTestServer(memory, { reconciles: false, config });
  });
  afterAll(() => server?.stop());

  it('a user above the limit of watches gets 429 until one ends; other users and reads are served', async () => {
    const as = (name: string) => server.client({ ...server.keelson.client, headers: { 'impersonate-user': name } });
    const [alice, bob] = [as('alice'), as('bob')];
    const path = '/api/v1/namespaces/default/configmaps';
    const open = await Promise.all([1, 2, 3].map(() => alice.open('GET', `${path}?watch=true`)));
    const refused = await alice.get(`${path}?watch=true`);
    expect(refused).toMatchObject({ code: 429, body: { kind: 'Status', reason: 'TooManyRequests' } });
    expect(refused.headers['retry-after']).toBe('1');
    expect((await alice.get(path)).code).toBe(200);
    const others = await Promise.all([1, 2].map(() => bob.open('GET', `${path}?watch=true`)));
    expect((await bob.get(`${path}?watch=true`)).code).toBe(429);
    expect(others.map(({ code }) => code)).toEqual([200, 200]);
    open[0]!.cancel();
    await open[0]!.ended;
    let again = await alice.open('GET', `${path}?watch=true`);
    for (let tries = 0; again.code === 429 && tries < 100; tries++)
      again = await alice.open('GET', `${path}?watch=true`);
    expect(again.code).toBe(200);
    for (const watch of [...open, ...others, again]) watch.cancel();
  });
});

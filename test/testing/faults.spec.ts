import { startKeelson, type TestKeelson } from '../../src/testing.js';
import { HttpClient } from '../harness/http-client.js';
import { eventually } from '../harness/eventually.js';

const maps = '/api/v1/namespaces/default/configmaps';
const map = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
const rule = (fault: object, match: object = {}, more: object = {}) => ({
  rules: [{ name: 'r', match, fault, ...more }],
});

let keelson: TestKeelson;
beforeAll(
  async () => void (keelson = await startKeelson({ faults: {}, users: { other: { clusterRoles: ['edit'] } } })),
);
afterEach(() => keelson.setFaults({}));
afterAll(() => keelson.stop());

describe('a fault plan', () => {
  it.each([
    [409, 'AlreadyExists'],
    [410, 'Expired'],
    [429, 'TooManyRequests'],
    [500, 'InternalError'],
    [503, 'ServiceUnavailable'],
    [504, 'Timeout'],
  ])('answers %i with the reason %s and does not execute the request', async (status, reason) => {
    keelson.setFaults(rule({ status }, { verbs: ['create'], resources: ['configmaps'] }));
    await expect(keelson.api.create(maps, map(`s${status}`))).rejects.toMatchObject({ status, reason });
    await expect(keelson.api.get(`${maps}/s${status}`)).rejects.toMatchObject({ status: 404 });
    expect(keelson.faultCounts()).toEqual([{ name: 'r', matched: 1, injected: 1 }]);
  });

  it('loses the answer of a write that is committed, over HTTP/1.1 and HTTP/2', async () => {
    keelson.setFaults(rule({ dropAnswer: true }, { verbs: ['create'] }));
    await expect(keelson.api.create(maps, map('lost'))).rejects.toMatchObject({ code: 'Connection' });
    const { url, ca, client } = keelson;
    const http2 = new HttpClient({ url, ca, ...client, protocol: 'h2' });
    await expect(http2.post(maps, map('lost2'))).rejects.toThrow();
    http2.close();
    keelson.setFaults({});
    for (const name of ['lost', 'lost2']) expect(await keelson.api.get(`${maps}/${name}`)).toMatchObject(map(name));
  });

  it('delays requests of one client alone', async () => {
    keelson.setFaults(rule({ latency: '300ms' }, { users: ['other'] }));
    const timed = async (run: Promise<unknown>) => {
      const beginMs = performance.now();
      await run;
      return performance.now() - beginMs;
    };
    const other = await keelson.user('other');
    expect(await timed(other.api.list(maps))).toBeGreaterThanOrEqual(299);
    await keelson.api.list(maps);
    expect(keelson.faultCounts()).toEqual([{ name: 'r', matched: 1, injected: 1 }]);
  });

  it('ends watches, and stalls them while they stay open', async () => {
    const query = { resourceVersion: (await keelson.api.list(maps)).metadata.resourceVersion! };
    keelson.setFaults(rule({ endWatchAfter: '50ms' }, { verbs: ['watch'] }));
    await expect(keelson.api.watch(maps, { query }).next()).rejects.toMatchObject({ code: 'Connection' });
    keelson.setFaults(rule({ stallWatchAfter: '0s' }, { verbs: ['watch'] }));
    const abort = new AbortController();
    let outcome = 'open';
    const watching = keelson.api
      .watch(maps, { query, signal: abort.signal })
      .next()
      .then(
        () => (outcome = 'event'),
        () => (outcome = 'ended'),
      );
    await eventually('the watch is open', () => keelson.faultCounts()[0]!.injected === 1);
    await keelson.api.create(maps, map('unseen'));
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(outcome).toBe('open');
    abort.abort();
    await watching;
  });

  it('answers lists that accept any state with an older one, and no others', async () => {
    const names = async (resourceVersion: string) =>
      (await keelson.api.list(maps, { query: { resourceVersion } })).items.map(({ metadata }) => metadata.name);
    await keelson.api.create(maps, map('old'));
    keelson.setFaults(rule({ staleRevisions: 1 }));
    let count = 0;
    // Another write of the server, as of a Lease, may come between the newest object and the list.
    await eventually('a list lacks the newest object', async () => {
      const young = `young-${count++}`;
      await keelson.api.create(maps, map(young));
      expect(await names('')).toEqual(expect.arrayContaining(['old', young]));
      const stale = await names('0');
      expect(stale).toContain('old');
      return !stale.includes(young);
    });
  });

  it('shifts the clock of the server', async () => {
    keelson.setFaults({ clockOffset: '24h' });
    await keelson.api.create(maps, map('tomorrow'));
    const { metadata } = await keelson.api.get(`${maps}/tomorrow`);
    expect(Date.parse(String(metadata.creationTimestamp)) - Date.now()).toBeGreaterThan(23 * 3_600_000);
  });
});

describe('/debug/faults and the header Keelson-Fault', () => {
  const request = (method: string, headers: Record<string, string> = {}, body?: string, path = '/debug/faults') =>
    keelson.api.request({ method, path, headers, ...(body !== undefined && { body }) });

  it('replace the plan, count and remove it', async () => {
    const plan =
      'seed: 3\nrules:\n- {name: gone, match: {verbs: [get], resources: [configmaps]}, fault: {status: 404}}\n';
    expect((await request('PUT', {}, plan)).status).toBe(200);
    await expect(keelson.api.get(`${maps}/kube-root-ca.crt`)).rejects.toMatchObject({ status: 404 });
    const counts = JSON.parse((await request('GET')).body.toString());
    expect(counts).toMatchObject({ seed: 3, rules: [{ name: 'gone', matched: 1, injected: 1 }] });
    expect((await request('DELETE')).status).toBe(200);
    expect(await keelson.api.get(`${maps}/kube-root-ca.crt`)).toMatchObject({ kind: 'ConfigMap' });
    expect((await request('PUT', {}, 'rules: [{fault: {status: 1}}]')).status).toBe(400);
    expect((await request('POST')).status).toBe(405);
  });

  it('fail one request by its header; a wrong header is refused', async () => {
    expect((await request('GET', { 'Keelson-Fault': 'status: 503' }, undefined, maps)).status).toBe(503);
    expect((await request('GET', { 'Keelson-Fault': 'status: 1' }, undefined, maps)).status).toBe(400);
    expect((await request('GET', {}, undefined, maps)).status).toBe(200);
  });

  it('are for users with access to the path', async () => {
    const other = await keelson.user('other');
    for (const method of ['GET', 'PUT', 'DELETE']) {
      expect((await other.api.request({ method, path: '/debug/faults' })).status).toBe(403);
    }
  });

  it('are refused by a server without --allow-faults', async () => {
    const plain = await startKeelson();
    expect((await plain.api.request({ method: 'GET', path: '/debug/faults' })).status).toBe(404);
    const headers = { 'Keelson-Fault': 'status: 503' };
    expect((await plain.api.request({ method: 'GET', path: maps, headers })).status).toBe(400);
    expect(() => plain.setFaults('')).toThrow(/option `faults`/);
    await plain.stop();
  });
});

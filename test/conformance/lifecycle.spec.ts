import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import * as http2 from 'node:http2';
import * as https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { makeAuthority, makeKey, makeServingPair, signerOf } from '../../src/certificates/authority.js';
import { systemClock, type Clock } from '../../src/std/clock.js';
import { backends } from '../../src/storage/backends.js';
import { startKeelson } from '../../src/testing.js';
import { describeWithEtcd, EtcdCluster } from '../harness/etcd.js';
import { eventually } from '../harness/eventually.js';
import { HttpClient, type Protocol, type Watch } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { configMap } from './case.js';

const configMaps = '/api/v1/namespaces/default/configmaps';
const memory = { store: 'memory', naming: 'kubernetes' } as const;
const embedded = { store: 'embedded', naming: 'kubernetes' } as const;

let temporary: string;
beforeAll(async () => void (temporary = await mkdtemp(join(tmpdir(), 'keelson-lifecycle-'))));
afterAll(() => rm(temporary, { recursive: true, force: true }));

describe.each<Protocol>(['http/1.1', 'h2'])('a server that stops, by %s', (protocol) => {
  it('ends 200 watches in good order, at once', async () => {
    const keelson = await startKeelson();
    const client = new HttpClient({ url: keelson.url, ca: keelson.ca, ...keelson.client, protocol });
    const watches = await Promise.all(
      Array.from({ length: 200 }, () => client.watch(`${configMaps}?watch=1&resourceVersion=0`)),
    );
    await Promise.all(watches.map((watch) => watch.next()));
    const startedMs = performance.now();
    await keelson.stop();
    const tookMs = performance.now() - startedMs;
    const ends = await Promise.all(watches.map(async (watch) => [await watch.rest(), await watch.ended]));
    expect(new Set(ends.map(([, end]) => end))).toEqual(new Set(['complete']));
    // Those that do not end by themselves are cut after five seconds.
    expect(tookMs).toBeLessThan(4_000);
    client.close();
  });

  it('lets a request under way finish', async () => {
    const server = await startTestServer(memory);
    const body = JSON.stringify(configMap('late'));
    const begun = await beginPost(server, protocol, body.slice(0, 10));
    const stopped = server.keelson.stop();
    await sleep(50);
    expect(await begun.finish(body.slice(10))).toBe(201);
    await stopped;
    await server.stop();
  });

  it('says so before it does', async () => {
    const server = await startTestServer(memory, { config: { shutdownDelayMs: 1_500 } });
    const client = server.client({ ...server.keelson.client, protocol });
    expect((await client.get('/readyz')).code).toBe(200);
    const stopped = server.keelson.stop();
    const notReady = await client.get('/readyz?verbose');
    expect(notReady.code).toBe(500);
    expect(notReady.text).toMatch(/^\[-\]shutdown failed/m);
    // Until the delay is over it serves, also those who come only now.
    expect((await client.get('/livez')).code).toBe(200);
    expect((await client.post(configMaps, configMap('last'))).code).toBe(201);
    expect((await server.client({ ...server.keelson.client, protocol }).get(configMaps)).code).toBe(200);
    await stopped;
    await expect(server.client({ ...server.keelson.client }).get('/readyz')).rejects.toThrow(/ECONNREFUSED/);
    await server.stop();
  });
});

/** A POST whose body stops half way, as the server knows. */
async function beginPost({ keelson }: TestServer, protocol: Protocol, head: string) {
  const tls = { ca: keelson.ca, cert: keelson.client.certificate, key: keelson.client.key };
  // The server's "go on" tells that it has begun with the request.
  const headers = { 'content-type': 'application/json', expect: '100-continue' };
  if (protocol === 'h2') {
    const session = http2.connect(keelson.url, tls);
    const stream = session.request({ ':method': 'POST', ':path': configMaps, ...headers }, { endStream: false });
    await once(stream, 'continue');
    stream.write(head);
    return {
      async finish(rest: string) {
        stream.end(rest);
        const [answer] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders];
        stream.resume();
        await once(stream, 'close');
        return Number(answer[':status']);
      },
    };
  }
  const request = https.request(`${keelson.url}${configMaps}`, { ...tls, method: 'POST', headers });
  request.flushHeaders();
  await once(request, 'continue');
  request.write(head);
  return {
    async finish(rest: string) {
      request.end(rest);
      const [response] = (await once(request, 'response')) as [{ statusCode: number; resume(): void }];
      response.resume();
      return response.statusCode;
    },
  };
}

it('takes a new certificate from its files without dropping anybody', async () => {
  const key = makeKey();
  const authority = await makeAuthority(key, Date.now());
  const names = { dns: ['localhost'], ip: ['127.0.0.1'] };
  const serving = { tlsCertFile: join(temporary, 'tls.crt'), tlsPrivateKeyFile: join(temporary, 'tls.key') };
  const writePair = async () => {
    const pair = await makeServingPair(signerOf(authority, key), { ...names, refused: [] }, Date.now());
    await writeFile(serving.tlsCertFile, pair.certificate);
    await writeFile(serving.tlsPrivateKeyFile, pair.key);
  };
  await writePair();
  // Files are looked at every five seconds; nobody wants to wait for that.
  const clock: Clock = { ...systemClock, after: (ms, task) => systemClock.after(ms === 5_000 ? 20 : ms, task) };
  const server = await startTestServer(memory, { clock, config: { serving } });
  const { port } = new URL(server.url);
  const serial = () =>
    new Promise<string>((resolve, reject) => {
      const socket = connect({ port: Number(port), host: '127.0.0.1', ca: authority }, () => {
        resolve(socket.getPeerCertificate().serialNumber);
        socket.destroy();
      }).on('error', reject);
    });
  const clients = (['http/1.1', 'h2'] as const).map((protocol) =>
    server.client({ ...server.keelson.client, ca: authority, protocol }),
  );
  const watches = await Promise.all(clients.map((client) => client.watch(`${configMaps}?watch=1&labelSelector=l`)));
  const before = await serial();
  await writePair();
  await eventually('the new certificate is shown', async () => (await serial()) !== before);
  await clients[1]!.post(configMaps, configMap('after', { metadata: { labels: { l: '1' } } }));
  for (const watch of watches) expect((await watch.next())?.object.metadata.name).toBe('after');
  await server.stop();
});

/** Both write by turns; both watches must show all of it, in the one order of the versions. */
async function seeEachOther(servers: readonly [TestServer, TestServer]): Promise<void> {
  const clients = servers.map(({ admin }) => admin) as [HttpClient, HttpClient];
  const query = `${configMaps}?watch=1&labelSelector=l`;
  const watches = (await Promise.all(clients.map((client) => client.watch(query)))) as [Watch, Watch];
  const made: string[] = [];
  for (let n = 0; n < 40; n++) {
    const writer = clients[n % 2]!;
    const reader = clients[(n + 1) % 2]!;
    const { body } = await writer.post(configMaps, configMap(`n${n}`, { metadata: { labels: { l: '1' } } }));
    made.push(body.metadata.resourceVersion);
    // What one has acknowledged, the other shows to whoever asks for the latest.
    expect((await reader.get(`${configMaps}/n${n}`)).body.metadata.resourceVersion).toBe(made.at(-1));
  }
  for (const watch of watches) {
    const events = await watch.take(made.length);
    expect(events.map(({ object }) => object.metadata.resourceVersion)).toEqual(made);
    watch.close();
  }
  const conflicting = await Promise.all(
    Array.from({ length: 20 }, (_, n) => clients[n % 2]!.patch(`${configMaps}/n0`, { data: { [`k${n}`]: '1' } })),
  );
  const merged = conflicting.filter(({ code }) => code === 200).length;
  const { body } = await clients[0].get(`${configMaps}/n0`);
  expect(Object.keys(body.data)).toHaveLength(merged);
  expect(conflicting.every(({ code }) => code === 200 || code === 409)).toBe(true);
}

describe('two servers on one store', () => {
  it('of this process see each other', async () => {
    const store = await backends.memory({});
    const servers = [await startTestServer(memory, { store }), await startTestServer(memory, { store })] as const;
    await seeEachOther(servers);
    await Promise.all(servers.map((server) => server.stop()));
    await store.close();
  });

  it('of a directory are one too many', async () => {
    const directory = join(temporary, 'store');
    const first = await startTestServer(embedded, { directory });
    await first.admin.post(configMaps, configMap('kept'));
    await expect(startTestServer(embedded, { directory })).rejects.toThrow(/in use|locked|another/i);
    expect((await first.admin.get(`${configMaps}/kept`)).code).toBe(200);
    await first.stop();
    const next = await startTestServer(embedded, { directory });
    expect((await next.admin.get(`${configMaps}/kept`)).code).toBe(200);
    await next.stop();
  });
});

describeWithEtcd('two servers beside one etcd', () => {
  it('see each other', async () => {
    const etcd = await EtcdCluster.start();
    const stores = [await etcd.openStore(), await etcd.openStore()] as const;
    const servers = [
      await startTestServer(memory, { store: stores[0] }),
      await startTestServer(memory, { store: stores[1] }),
    ] as const;
    await seeEachOther(servers);
    await Promise.all(servers.map((server) => server.stop()));
    await Promise.all(stores.map((store) => store.close()));
    await etcd.stop();
  });
});

it('many servers live in one process, each for itself', async () => {
  const servers = await Promise.all(Array.from({ length: 8 }, () => startTestServer(memory)));
  await Promise.all(servers.map(({ admin }, n) => admin.post(configMaps, configMap(`mine-${n}`))));
  for (const [n, { admin }] of servers.entries()) {
    const { body } = await admin.get(`${configMaps}?fieldSelector=metadata.name!=kube-root-ca.crt`);
    expect(body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toEqual([`mine-${n}`]);
  }
  await Promise.all(servers.map((server) => server.stop()));
});

it('a port that is taken is told of, and nothing stays behind', async () => {
  const first = await startTestServer(memory);
  const securePort = Number(new URL(first.url).port);
  await expect(startTestServer(memory, { config: { serving: { securePort } } })).rejects.toThrow(/EADDRINUSE/);
  expect((await first.admin.get('/readyz')).code).toBe(200);
  await first.stop();
});

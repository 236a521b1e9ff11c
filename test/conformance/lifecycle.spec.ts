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
import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';
import { startKeelson } from '../../src/testing.js';
import { describeWithEtcd, EtcdCluster } from '../harness/etcd.js';
import { eventually } from '../harness/eventually.js';
import { HttpClient, type Protocol, type Watch } from '../harness/http-client.js';
import { heldDelay } from '../harness/held-delay.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { configMap } from './case.js';

const configMaps = '/api/v1/namespaces/default/configmaps';
const memory = { store: 'memory', naming: 'kubernetes' } as const;
const embedded = { store: 'embedded', naming: 'kubernetes' } as const;

let temporary: string;
beforeAll(async () => void (temporary = await mkdtemp(join(tmpdir(), 'keelson-lifecycle-'))));
afterAll(() => rm(temporary, { recursive: true, force: true }));

describe.each<Protocol>(['http/1.1', 'h2'])('a stopping server, by %s', (protocol) => {
  it('ends 200 watches cleanly and without delay', async () => {
    const keelson = await startKeelson({ config: { limits: { shutdownGraceMs: 200_000 } } });
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
    // Watches that do not end would be cut after the grace period.
    expect(tookMs).toBeLessThan(100_000);
    client.close();
  });

  it('finishes running requests', async () => {
    const server = await startTestServer(memory);
    const body = JSON.stringify(configMap('late'));
    const begun = await beginPost(server, protocol, body.slice(0, 10));
    const stopped = server.keelson.stop();
    await sleep(50);
    expect(await begun.finish(body.slice(10))).toBe(201);
    await stopped;
    await server.stop();
  });

  it('fails readiness before it stops', async () => {
    const delay = heldDelay(123_456);
    const server = await startTestServer(memory, { config: { shutdownDelayMs: 123_456 }, clock: delay.clock });
    const client = server.client({ ...server.keelson.client, protocol });
    expect((await client.get('/readyz')).code).toBe(200);
    const stopped = server.keelson.stop();
    const notReady = await client.get('/readyz?verbose');
    expect(notReady.code).toBe(500);
    expect(notReady.text).toMatch(/^\[-\]shutdown failed/m);
    // During the delay it serves, also new connections.
    expect((await client.get('/livez')).code).toBe(200);
    expect((await client.post(configMaps, configMap('last'))).code).toBe(201);
    expect((await server.client({ ...server.keelson.client, protocol }).get(configMaps)).code).toBe(200);
    delay.release();
    await stopped;
    await expect(server.client({ ...server.keelson.client }).get('/readyz')).rejects.toThrow(/ECONNREFUSED/);
    await server.stop();
  });
});

/** A POST whose body stops half way, which the server is processing. */
async function beginPost({ keelson }: TestServer, protocol: Protocol, head: string) {
  const tls = { ca: keelson.ca, cert: keelson.client.certificate, key: keelson.client.key };
  // "100 Continue" shows that the server has started the request.
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

it('reloads its certificate files without dropping connections', async () => {
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
  // Shortens the five seconds between checks of the files.
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

/** Both servers write in turn; watches on both must send all events, in one order. */
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
    // A read at one server reflects a write acknowledged by the other.
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
  it("in one process see each other's writes", async () => {
    const store = new MemoryStore();
    const servers = [await startTestServer(memory, { store }), await startTestServer(memory, { store })] as const;
    await seeEachOther(servers);
    await Promise.all(servers.map((server) => server.stop()));
    await store.close();
  });

  it('cannot share a data directory', async () => {
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

describeWithEtcd('two servers on one etcd', () => {
  it("see each other's writes", async () => {
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

it('several servers in one process are independent', async () => {
  const servers = await Promise.all(Array.from({ length: 8 }, () => startTestServer(memory)));
  await Promise.all(servers.map(({ admin }, n) => admin.post(configMaps, configMap(`mine-${n}`))));
  for (const [n, { admin }] of servers.entries()) {
    const { body } = await admin.get(`${configMaps}?fieldSelector=metadata.name!=kube-root-ca.crt`);
    expect(body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toEqual([`mine-${n}`]);
  }
  await Promise.all(servers.map((server) => server.stop()));
});

it('a port in use is reported, and leaves nothing behind', async () => {
  const first = await startTestServer(memory);
  const securePort = Number(new URL(first.url).port);
  await expect(startTestServer(memory, { config: { serving: { securePort } } })).rejects.toThrow(/EADDRINUSE/);
  expect((await first.admin.get('/readyz')).code).toBe(200);
  await first.stop();
});

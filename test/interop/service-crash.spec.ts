import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { serviceRefOf, type ServiceRef } from '../../src/service-allocation/ip-addresses.js';
import { portsOf } from '../../src/service-allocation/node-port-map.js';
import { holdingsOf } from '../../src/service-allocation/holdings.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import { EmbeddedStore } from '../../src/storage/backends/embedded/embedded-store.js';
import type { KvStore } from '../../src/storage/kv-store.js';
import { eventually } from '../harness/eventually.js';
import { HttpClient } from '../harness/http-client.js';
import { ServerProcess } from '../harness/server-process.js';

/**
 * The server is killed while Services are created, changed and deleted. Allocated cluster IPs and node ports in the
 * store must be those of its Services, before any repair.
 */
const kills = 8;
const writers = 8;
const services = '/api/v1/namespaces/default/services';

interface Run {
  isOver: boolean;
  acknowledged: number;
}

/** Each writer has Services of its own; answers lost with the server do not matter. */
async function write(client: HttpClient, writer: number, run: Run): Promise<void> {
  for (let n = 0; !run.isOver; n++) {
    const name = `w${writer}-${n % 5}`;
    const spec = { type: n % 2 === 0 ? 'NodePort' : 'ClusterIP', ports: [{ port: 80 }] };
    const step = [
      () => client.post(services, { metadata: { name }, spec }),
      () => client.patch(`${services}/${name}`, { spec: { type: 'NodePort' } }),
      () => client.delete(`${services}/${name}`),
    ][n % 3]!;
    const code = await step().then(
      (answer) => answer.code,
      () => sleep(5).then(() => 0),
    );
    if (code === 200 || code === 201) run.acknowledged++;
  }
}

const named = ({ namespace, name }: ServiceRef) => `${namespace}/${name}`;

/** `unmarked` are node ports of Services that the map lacks: other Services could get them. */
async function difference(store: KvStore): Promise<{ had: string[]; taken: string[]; unmarked: number[] }> {
  const under = async (prefix: string) =>
    (await store.range(`/registry/${prefix}/`)).items.map(({ value }) => JSON.parse(value.toString()) as KubeObject);
  const had = (await under('services/specs')).flatMap((service) => {
    const { addresses } = holdingsOf(service);
    const user = named({ namespace: service.metadata.namespace!, name: service.metadata.name! });
    return [...addresses].map((address) => `${address} ${user}`);
  });
  const taken = (await under('ipaddresses')).map(
    (ipAddress) => `${ipAddress.metadata.name} ${named(serviceRefOf(ipAddress)!)}`,
  );
  // Killed early, the server has created neither the map nor a Service.
  const { item } = await store.get('/registry/ranges/servicenodeports');
  const { data = '' } = item ? (JSON.parse(item.value.toString()) as { data: string }) : {};
  const marked = portsOf(Buffer.from(data, 'base64'), { first: 30_000, last: 32_767 });
  const ports = (await under('services/specs')).flatMap((service) => [...holdingsOf(service).nodePorts]);
  expect(new Set(ports).size).toBe(ports.length);
  return { had: had.sort(), taken: taken.sort(), unmarked: ports.filter((port) => !marked.has(port)) };
}

it(`a server that is killed ${kills} times leaks no cluster IP and no node port`, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'keelson-services-'));
  const server = await ServerProcess.start(directory, ['--storage-backend=embedded']);
  const run: Run = { isOver: false, acknowledged: 0 };
  const clients = Array.from({ length: writers }, () => new HttpClient(clientOf(server)));
  try {
    const work = clients.map((client, writer) => write(client, writer, run));
    for (let n = 0; n < kills; n++) {
      await sleep(150 + 40 * n);
      await server.kill();
      const store = await EmbeddedStore.open({ directory: join(directory, 'store') });
      const { had, taken, unmarked } = await difference(store).finally(() => store.close());
      expect([taken, unmarked]).toEqual([had, []]);
      expect(new Set(had.map((line) => line.split(' ')[0])).size).toBe(had.length);
      await server.start();
    }
    await eventually('a hundred writes were acknowledged', () => run.acknowledged > 100);
    run.isOver = true;
    await Promise.all(work);
  } finally {
    run.isOver = true;
    for (const client of clients) client.close();
    await server.kill();
    await rm(directory, { recursive: true, force: true });
  }
});

const clientOf = ({ access: { url, ca, client } }: ServerProcess) => ({ url, ca, ...client });

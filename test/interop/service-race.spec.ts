import { describeWithEtcd, EtcdCluster } from '../harness/etcd.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

const services = '/api/v1/namespaces/default/services';
const count = 500;

describeWithEtcd('two servers on one etcd', () => {
  let etcd: EtcdCluster;
  let both: readonly TestServer[];
  beforeAll(async () => {
    etcd = await EtcdCluster.start();
    const start = () =>
      startTestServer(
        { store: 'memory', naming: 'kubernetes' },
        {
          config: {
            storage: { backend: 'etcd3', etcd: { servers: etcd.storeOptions.servers, prefix: '/race' } },
            network: { serviceClusterIpRanges: ['10.0.0.0/22', 'fd00::/112'] },
          },
        },
      );
    both = [await start(), await start()];
  });
  afterAll(async () => {
    for (const server of both) await server.stop();
    await etcd.stop();
  });

  it('allocate no cluster IP and no node port twice, and release all of them', async () => {
    const spec = { type: 'NodePort', ipFamilyPolicy: 'RequireDualStack', ports: [{ port: 80 }] };
    const made = await Promise.all(
      Array.from({ length: count }, (_, index) =>
        both[index % 2]!.admin.post(services, { metadata: { name: `s${index}` }, spec }),
      ),
    );
    expect(made.filter(({ code }) => code !== 201).map(({ body }) => body.message as string)).toEqual([]);
    const specs = made.map(({ body }) => body.spec as { clusterIPs: string[]; ports: { nodePort: number }[] });
    expect(new Set(specs.flatMap(({ clusterIPs }) => clusterIPs)).size).toBe(2 * count);
    expect(new Set(specs.map(({ ports }) => ports[0]!.nodePort)).size).toBe(count);

    const deleted = await Promise.all(
      made.map((_, index) => both[(index + 1) % 2]!.admin.delete(`${services}/s${index}`)),
    );
    const refused = deleted
      .filter(({ code }) => code !== 200)
      .map(({ code, body }) => `${code} ${body.message as string}`);
    expect(refused).toEqual([]);
    const { body } = await both[0]!.admin.get('/apis/networking.k8s.io/v1/ipaddresses');
    expect((body.items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name)).toEqual(['10.0.0.1']);
  });
});

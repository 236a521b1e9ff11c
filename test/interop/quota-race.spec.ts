import { describeWithEtcd, EtcdCluster } from '../harness/etcd.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

const services = '/api/v1/namespaces/default/services';
const quotas = '/api/v1/namespaces/default/resourcequotas';
const patchesOfEach = 60;
const names = ['a', 'b', 'c'];
const hard = { services: '10', 'services.nodeports': '100', 'services.loadbalancers': '10' };

interface Service {
  readonly spec: { readonly type: string; readonly ports: readonly unknown[] };
}

/** Usage of a quota as the reconciler counts it. */
function usageOf(items: readonly Service[]) {
  const ports = ({ spec: { type, ports: all } }: Service) => (type === 'ClusterIP' ? 0 : all.length);
  return {
    services: String(items.length),
    'services.nodeports': String(items.reduce((sum, service) => sum + ports(service), 0)),
    'services.loadbalancers': String(items.filter(({ spec }) => spec.type === 'LoadBalancer').length),
  };
}

describeWithEtcd('two servers on one etcd', () => {
  let etcd: EtcdCluster;
  let both: readonly TestServer[];
  beforeAll(async () => {
    etcd = await EtcdCluster.start();
    const storage = { backend: 'etcd3', etcd: { servers: etcd.storeOptions.servers, prefix: '/quota-race' } } as const;
    // Without the reconciler, which would correct what admission charges.
    const config = { storage, reconcilers: { controllers: ['*', '-resourcequota-controller'] } };
    const start = () => startTestServer({ store: 'memory', naming: 'kubernetes' }, { config });
    both = [await start(), await start()];
  });
  afterAll(async () => {
    for (const server of both) await server.stop();
    await etcd.stop();
  });

  it('charge an update once that lost its compare-and-set to the other server', async () => {
    const { admin } = both[0]!;
    const ports = [80, 81].map((port) => ({ name: `p${port}`, port }));
    for (const name of names) await admin.post(services, { metadata: { name }, spec: { ports } });
    const listed = async () => (await admin.get(services)).body.items as Service[];
    await admin.post(quotas, { metadata: { name: 'q' }, spec: { hard } });
    const counted = await admin.patch(`${quotas}/q/status`, { status: { hard, used: usageOf(await listed()) } });
    expect([counted.code, counted.body.message]).toEqual([200, undefined]);

    const types = ['NodePort', 'ClusterIP', 'LoadBalancer'];
    const answers = await Promise.all(
      names.flatMap((name) =>
        Array.from({ length: patchesOfEach }, (_, index) =>
          both[index % 2]!.admin.patch(`${services}/${name}`, { spec: { type: types[(index >> 1) % types.length] } }),
        ),
      ),
    );
    const messages = answers.filter(({ code }) => code !== 200).map(({ body }) => body.message as string);
    expect(messages).toEqual([]);
    expect((await admin.get(`${quotas}/q`)).body.status.used).toEqual(usageOf(await listed()));
  });
});

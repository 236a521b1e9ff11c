import { describeWithEtcd, EtcdCluster } from '../harness/etcd.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

const services = '/api/v1/namespaces/default/services';
const quotas = '/api/v1/namespaces/default/resourcequotas';
const patchesOfEach = 20;
const roundsMax = 10;
const names = ['a', 'b', 'c'];
const hard = { services: '10', 'services.nodeports': '100', 'services.loadbalancers': '10' };

interface Service {
  readonly spec: { readonly type: string; readonly ports: readonly unknown[] };
}

const types = ['NodePort', 'ClusterIP', 'LoadBalancer'];

/** Changes the type of a Service again and again. Returns the answers that were not 200. */
async function patchTypes({ admin }: TestServer, name: string) {
  const refused: { code: number; message: unknown }[] = [];
  for (let index = 0; index < patchesOfEach; index++) {
    const { code, body } = await admin.patch(`${services}/${name}`, { spec: { type: types[index % types.length] } });
    if (code !== 200) refused.push({ code, message: body.message });
  }
  return refused;
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

    // A write that gives up after too many conflicts leaves its charge to the reconciler, as in kube-apiserver: only
    // rounds without such a write are compared.
    for (let round = 0; round < roundsMax; round++) {
      const counted = await admin.patch(`${quotas}/q/status`, { status: { hard, used: usageOf(await listed()) } });
      expect([counted.code, counted.body.message]).toEqual([200, undefined]);
      const gaveUp = (
        await Promise.all(names.flatMap((name) => both.map((server) => patchTypes(server, name))))
      ).flat();
      for (const answer of gaveUp) expect(answer).toMatchObject({ code: 409 });
      if (gaveUp.length > 0) continue;
      expect((await admin.get(`${quotas}/q`)).body.status.used).toEqual(usageOf(await listed()));
      return;
    }
    throw new Error(`a write gave up after too many conflicts in each of ${roundsMax} rounds`);
  });
});

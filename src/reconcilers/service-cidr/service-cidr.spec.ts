import { HttpClient } from '../../../test/harness/http-client.js';
import { startKeelson, type Keelson } from '../../testing.js';

const ranges = '/apis/networking.k8s.io/v1/servicecidrs';
const services = '/api/v1/namespaces/default/services';

let keelson: Keelson;
let admin: HttpClient;
beforeEach(async () => {
  keelson = await startKeelson({ config: { network: { serviceClusterIpRanges: ['10.0.0.0/29'] } } });
  admin = new HttpClient({ url: keelson.url, ca: keelson.ca, ...keelson.client });
});
afterEach(async () => {
  admin.close();
  await keelson.stop();
});

const readiness = async (name: string) => {
  const { code, body } = await admin.get(`${ranges}/${name}`);
  if (code === 404) return 'gone';
  const conditions = (body.status?.conditions ?? []) as { type: string; status: string; reason: string }[];
  return conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`.trim()).join();
};

/** Waits until the ServiceCIDR has the condition. */
async function becomes(name: string, want: string): Promise<void> {
  const { body } = await admin.get(ranges);
  const watch = await admin.watch(
    `${ranges}?watch=true&timeoutSeconds=10&resourceVersion=${body.metadata.resourceVersion as string}`,
  );
  try {
    while ((await readiness(name)) !== want) expect(await watch.next()).toBeDefined();
  } finally {
    watch.close();
  }
}
const createService = async (name: string) => {
  const { code, body } = await admin.post(services, { metadata: { name }, spec: { ports: [{ port: 80 }] } });
  return code === 201 ? (body.spec.clusterIP as string) : code;
};

it('an added ServiceCIDR serves addresses, and is deleted after its last address is freed', async () => {
  expect(await readiness('kubernetes')).toBe('Ready=True');
  const first = await Promise.all(Array.from({ length: 5 }, (_, index) => createService(`s${index}`)));
  expect(first.every((ip) => String(ip).startsWith('10.0.0.'))).toBe(true);
  expect(await createService('more')).toBe(500);

  await admin.post(ranges, { metadata: { name: 'second' }, spec: { cidrs: ['10.1.0.0/24'] } });
  await becomes('second', 'Ready=True');
  expect(await createService('more')).toMatch(/^10\.1\.0\./);

  expect((await admin.delete(`${ranges}/second`)).code).toBe(200);
  expect(await createService('late')).toBe(500);
  await becomes('second', 'Ready=False Terminating');
  await admin.delete(`${services}/more`);
  await becomes('second', 'gone');
});

it('the initial ServiceCIDR is created again when it is deleted', async () => {
  await admin.post(ranges, { metadata: { name: 'wide' }, spec: { cidrs: ['10.0.0.0/24'] } });
  await becomes('wide', 'Ready=True');
  const { body } = await admin.get(`${ranges}/kubernetes`);
  expect((await admin.delete(`${ranges}/kubernetes`)).code).toBe(200);
  const uid = async () => (await admin.get(`${ranges}/kubernetes`)).body.metadata?.uid as string | undefined;
  const watch = await admin.watch(`${ranges}?watch=true&timeoutSeconds=10`);
  for (let now = await uid(); now === undefined || now === body.metadata.uid; now = await uid()) {
    expect(await watch.next()).toBeDefined();
  }
  watch.close();
  await becomes('kubernetes', 'Ready=True');
});

it('no address is allocated from a ServiceCIDR that is not ready', async () => {
  await keelson.stop();
  keelson = await startKeelson({ reconciles: false, config: { network: { serviceClusterIpRanges: ['10.0.0.0/29'] } } });
  admin.close();
  admin = new HttpClient({ url: keelson.url, ca: keelson.ca, ...keelson.client });
  await admin.post(ranges, { metadata: { name: 'second' }, spec: { cidrs: ['10.1.0.0/24'] } });
  const asked = { metadata: { name: 'asks' }, spec: { clusterIP: '10.1.0.9', ports: [{ port: 80 }] } };
  expect((await admin.post(services, asked)).body.message).toContain('does not match the current range');
});

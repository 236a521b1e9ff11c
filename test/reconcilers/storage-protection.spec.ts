import type { HttpClient } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { until, untilGone } from '../harness/until.js';

const claims = '/api/v1/namespaces/default/persistentvolumeclaims';
const pods = '/api/v1/namespaces/default/pods';
const volumes = '/api/v1/persistentvolumes';
const classes = '/apis/storage.k8s.io/v1/volumeattributesclasses';
const merge = { 'content-type': 'application/merge-patch+json' };

let server: TestServer;
let client: HttpClient;
beforeAll(async () => {
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' });
  client = server.client(server.keelson.client);
});
afterAll(() => server.stop());

const claim = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
});
const volume = (name: string) => ({
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/tmp' } },
});
const isTerminating = async (collection: string, name: string) =>
  (await client.get(`${collection}/${name}`)).body.metadata.deletionTimestamp !== undefined;
const quiet = () => new Promise((resolve) => setTimeout(resolve, 300));

it('an unused PersistentVolumeClaim is deleted', async () => {
  const { body } = await client.post(claims, claim('unused'));
  expect(body.metadata.finalizers).toEqual(['kubernetes.io/pvc-protection']);
  await client.delete(`${claims}/unused`);
  await untilGone(client, claims, 'unused');
});

it('a PersistentVolumeClaim stays Terminating until the Pod that uses it is gone', async () => {
  await client.post(claims, claim('used'));
  const spec = {
    nodeName: 'n',
    containers: [{ name: 'c', image: 'i' }],
    volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'used' } }],
  };
  await client.post(pods, { metadata: { name: 'user' }, spec });
  await client.delete(`${claims}/used`);
  await quiet();
  expect(await isTerminating(claims, 'used')).toBe(true);
  await client.request('DELETE', `${pods}/user`, { body: { gracePeriodSeconds: 0 } });
  await untilGone(client, claims, 'used');
});

it('a PersistentVolume stays Terminating until it is no longer bound', async () => {
  await client.post(volumes, volume('bound'));
  await client.request('PATCH', `${volumes}/bound/status`, { body: { status: { phase: 'Bound' } }, headers: merge });
  await client.delete(`${volumes}/bound`);
  await quiet();
  expect(await isTerminating(volumes, 'bound')).toBe(true);
  await client.request('PATCH', `${volumes}/bound/status`, { body: { status: { phase: 'Released' } }, headers: merge });
  await untilGone(client, volumes, 'bound');
});

it('a VolumeAttributesClass stays Terminating until no claim refers to it', async () => {
  await client.post(classes, { metadata: { name: 'gold' }, driverName: 'd.example.com', parameters: { iops: '1' } });
  await client.post(claims, claim('fast', { volumeAttributesClassName: 'gold' }));
  await client.delete(`${classes}/gold`);
  await quiet();
  expect(await isTerminating(classes, 'gold')).toBe(true);
  await client.delete(`${claims}/fast`);
  await untilGone(client, classes, 'gold');
});

it('a namespace with a PersistentVolumeClaim is deleted', async () => {
  await client.post('/api/v1/namespaces', { metadata: { name: 'shop' } });
  await client.post('/api/v1/namespaces/shop/persistentvolumeclaims', claim('data'));
  await client.delete('/api/v1/namespaces/shop');
  await until(client, '/api/v1/namespaces', 'shop', (found) => found === undefined);
});

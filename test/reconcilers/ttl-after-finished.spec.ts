import { startTestServer, type TestServer } from '../harness/servers.js';
import { untilGone } from '../harness/until.js';

const jobs = '/apis/batch/v1/namespaces/default/jobs';
const pods = '/api/v1/namespaces/default/pods';
const merge = { 'content-type': 'application/merge-patch+json' };
const containers = [{ name: 'c', image: 'i' }];

let server: TestServer;
beforeAll(async () => void (server = await startTestServer({ store: 'memory', naming: 'kubernetes' })));
afterAll(() => server.stop());

it('a finished Job is deleted with its Pods after ttlSecondsAfterFinished', async () => {
  const client = server.client(server.keelson.client);
  const template = { spec: { containers, restartPolicy: 'Never' } };
  const { body: job } = await client.post(jobs, {
    metadata: { name: 'j' },
    spec: { ttlSecondsAfterFinished: 1, template },
  });
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: job.metadata.uid, controller: true };
  const ownerReferences = [{ ...owner, blockOwnerDeletion: true }];
  await client.post(pods, { metadata: { name: 'p', ownerReferences }, spec: { containers } });
  const time = `${new Date().toISOString().slice(0, 19)}Z`;
  const condition = { status: 'True', lastProbeTime: time, lastTransitionTime: time };
  const conditions = ['SuccessCriteriaMet', 'Complete'].map((type) => ({ ...condition, type }));
  const status = { startTime: time, completionTime: time, conditions };
  const { code, body } = await client.request('PATCH', `${jobs}/j/status`, { body: { status }, headers: merge });
  expect([code, body.message]).toEqual([200, undefined]);
  await untilGone(client, jobs, 'j');
  expect((await client.get(`${pods}/p`)).code).toBe(404);
});

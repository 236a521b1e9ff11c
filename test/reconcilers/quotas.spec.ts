import type { KubeObject } from '../../src/machinery/kube-object.js';
import type { HttpClient } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { until } from '../harness/until.js';

const merge = { 'content-type': 'application/merge-patch+json' };
const kube = '/api/v1/namespaces';

describe.each(['kubernetes', 'svc'] as const)('with the naming profile %s, a ResourceQuota', (naming) => {
  let server: TestServer;
  let admin: HttpClient;
  beforeAll(async () => {
    server = await startTestServer({ store: 'memory', naming });
    admin = server.admin;
  });
  afterAll(() => server.stop());

  const made = async (path: string, body: object) => {
    const answer = await admin.post(path, body);
    expect([answer.code, answer.body.message]).toEqual([201, undefined]);
    return answer.body as KubeObject;
  };
  const namespace = async (name: string) => {
    await made(kube, { metadata: { name } });
    await until(admin, `${kube}/${name}/serviceaccounts`, 'default', (account) => account !== undefined);
    return `${kube}/${name}`;
  };
  const limit = async (at: string, name: string, spec: object, used: object) => {
    await made(`${at}/resourcequotas`, { metadata: { name }, spec });
    await becomes(at, name, used);
  };
  const statusOf = (quota: KubeObject | undefined) => quota?.['status'] as { hard?: object; used?: object } | undefined;
  const becomes = (at: string, name: string, used: object) =>
    until(admin, `${at}/resourcequotas`, name, (quota) => {
      const now = statusOf(quota)?.used as Record<string, string> | undefined;
      return now !== undefined && Object.entries(used).every(([what, amount]) => now[what] === amount);
    });
  const pod = (name: string, cpu: string, more: object = {}) => ({
    metadata: { name },
    spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu } } }], ...more },
  });

  it('gets a status with its limits and existing usage', async () => {
    const at = await namespace('before');
    await made(`${at}/pods`, pod('p', '300m'));
    await made(`${at}/secrets`, { metadata: { name: 's' } });
    await made('/apis/batch/v1/namespaces/before/jobs', {
      metadata: { name: 'j' },
      spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } },
    });
    const hard = { pods: '3', 'requests.cpu': '1', secrets: '2', 'count/jobs.batch': '1', 'requests.storage': '2Gi' };
    const used = { pods: '1', 'requests.cpu': '300m', secrets: '1', 'count/jobs.batch': '1', 'requests.storage': '0' };
    await limit(at, 'q', { hard }, used);
    const { body } = await admin.get(`${at}/resourcequotas/q`);
    expect(body.status).toEqual({ hard, used });
    expect((await admin.post(`${at}/pods`, pod('big', '800m'))).body.message).toMatch(/exceeded quota: q, requested/);
  });

  it('releases the usage of deleted and finished objects and reduced requests', async () => {
    const at = await namespace('back');
    const hard = { pods: '2', 'count/pods': '9', 'services.nodeports': '1' };
    await limit(at, 'q', { hard }, { pods: '0', 'services.nodeports': '0' });
    await made(`${at}/pods`, pod('a', '1'));
    await made(`${at}/pods`, pod('b', '1'));
    await made(`${at}/services`, { metadata: { name: 's' }, spec: { type: 'NodePort', ports: [{ port: 80 }] } });
    expect((await admin.post(`${at}/pods`, pod('c', '1'))).code).toBe(403);
    await becomes(at, 'q', { pods: '2', 'services.nodeports': '1' });

    await admin.delete(`${at}/pods/a?gracePeriodSeconds=0`);
    const body = { status: { phase: 'Succeeded' } };
    await admin.request('PATCH', `${at}/pods/b/status`, { body, headers: merge });
    await admin.request('PATCH', `${at}/services/s`, { body: { spec: { type: 'ClusterIP' } }, headers: merge });
    await becomes(at, 'q', { pods: '0', 'count/pods': '1', 'services.nodeports': '0' });
    await made(`${at}/pods`, pod('c', '1'));
  });

  it('counts the objects in its scopes', async () => {
    const at = await namespace('scopes');
    await made(`${at}/pods`, pod('long', '1'));
    await made(`${at}/pods`, pod('short', '1', { activeDeadlineSeconds: 60 }));
    await limit(at, 'q', { hard: { pods: '9', cpu: '9' }, scopes: ['Terminating'] }, { pods: '1', cpu: '1' });
    await made(`${at}/pods`, pod('second', '2', { activeDeadlineSeconds: 5 }));
    await becomes(at, 'q', { pods: '2', cpu: '3' });
  });

  it('follows changes of its limits, and corrects its status', async () => {
    const at = await namespace('changed');
    await made(`${at}/configmaps`, { metadata: { name: 'c' } });
    await limit(at, 'q', { hard: { configmaps: '9' } }, { configmaps: '2' });
    await admin.request('PATCH', `${at}/resourcequotas/q`, {
      body: { spec: { hard: { configmaps: null, secrets: '4' } } },
      headers: merge,
    });
    const changed = await becomes(at, 'q', { secrets: '0' });
    expect(statusOf(changed)).toEqual({ hard: { secrets: '4' }, used: { secrets: '0' } });
    const body = { status: { hard: { secrets: '99' }, used: { secrets: '3' } } };
    await admin.request('PATCH', `${at}/resourcequotas/q/status`, { body, headers: merge });
    const kept = await becomes(at, 'q', { secrets: '0' });
    expect(statusOf(kept)!.hard).toEqual({ secrets: '4' });
  });

  it('is not exceeded while it is recounted', async () => {
    const at = await namespace('race');
    await limit(at, 'q', { hard: { 'count/leases.coordination.k8s.io': '5', configmaps: '8' } }, { configmaps: '1' });
    for (let round = 0; round < 2; round++) {
      const name = (index: number) => `c${round}-${index}`;
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) => admin.post(`${at}/configmaps`, { metadata: { name: name(index) } })),
      );
      expect(answers.filter(({ code }) => code === 201)).toHaveLength(7);
      await Promise.all(answers.map((_, index) => admin.delete(`${at}/configmaps/${name(index)}`)));
      await becomes(at, 'q', { configmaps: '1' });
    }
  });
});

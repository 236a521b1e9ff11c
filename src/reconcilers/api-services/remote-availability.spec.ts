import { HttpClient } from '../../../test/harness/http-client.js';
import { startKeelson, type Keelson } from '../../testing.js';

const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices';

let keelson: Keelson;
let admin: HttpClient;
beforeEach(async () => {
  keelson = await startKeelson();
  admin = new HttpClient({ url: keelson.url, ca: keelson.ca, ...keelson.client });
});
afterEach(async () => {
  admin.close();
  await keelson.stop();
});

const remote = (status?: object) => ({
  metadata: { name: 'v1.metrics.example.com' },
  spec: {
    group: 'metrics.example.com',
    version: 'v1',
    groupPriorityMinimum: 100,
    versionPriority: 100,
    insecureSkipTLSVerify: true,
    service: { namespace: 'default', name: 'metrics' },
  },
  ...(status && { status }),
});

async function availableCondition(): Promise<Record<string, string>> {
  const watch = await admin.watch(`${apiServices}?watch=true&fieldSelector=metadata.name%3Dv1.metrics.example.com`);
  try {
    for (;;) {
      const { object } = (await watch.next())!;
      const [condition] = (object['status'] as { conditions?: Record<string, string>[] }).conditions ?? [];
      if (condition) return condition;
    }
  } finally {
    watch.close();
  }
}

it('an APIService with a Service gets the condition Available with status False', async () => {
  expect((await admin.post(apiServices, remote())).code).toBe(201);
  expect(await availableCondition()).toMatchObject({ status: 'False', reason: 'NotForwarded' });
  const { text } = await admin.get('/readyz?verbose');
  expect(text).toContain('[+]poststarthook/apiservice-status-remote-available-controller ok');
});

it('an existing condition Available is not changed', async () => {
  await admin.post(apiServices, remote());
  await availableCondition();
  const { body: current } = await admin.get(`${apiServices}/v1.metrics.example.com`);
  const conditions = [{ type: 'Available', status: 'True', reason: 'Passed', message: 'all checks passed' }];
  const { code } = await admin.put(`${apiServices}/v1.metrics.example.com/status`, {
    ...current,
    status: { conditions },
  });
  expect(code).toBe(200);
  await admin.put(`${apiServices}/v1.metrics.example.com`, {
    ...(await admin.get(`${apiServices}/v1.metrics.example.com`)).body,
    metadata: { name: 'v1.metrics.example.com', labels: { a: 'b' } },
  });
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await availableCondition()).toMatchObject({ status: 'True', reason: 'Passed' });
});

import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { startTestAgent, type TestAgent } from '../harness/agents.js';
import { CriRuntimeProcess } from '../harness/cri-runtime.js';
import type { HttpClient, Protocol } from '../harness/http-client.js';

const runtime = new CriRuntimeProcess();
let agent: TestAgent;
const clients = {} as Record<Protocol, HttpClient>;
const protocols: readonly Protocol[] = ['http/1.1', 'h2'];
const path = '/checkpoint/default/web-1/app';

beforeAll(async () => {
  const containers = [{ name: 'app' }, { name: 'ended', state: 'exited' as const }];
  await runtime.start({ pods: [{ namespace: 'default', name: 'web-1', uid: 'uid-1', containers }] });
  agent = await startTestAgent([
    `--container-runtime-endpoint=${runtime.endpoint}`,
    '--feature-gates=ContainerCheckpoint=true',
    '--runtime-request-timeout=30s',
  ]);
  for (const protocol of protocols) clients[protocol] = agent.client({ protocol });
});
afterAll(async () => {
  await agent.stop();
  await runtime.stop();
});
beforeEach(() => runtime.set({ behaviour: {} }));

const lastCheckpoint = async () =>
  (await runtime.report()).requests.filter(({ method }) => method === 'CheckpointContainer').at(-1);

describe.each(protocols)('checkpoints over %s', (protocol) => {
  it(`a checkpoint over ${protocol} is answered with the path of its archive, which only its owner can read`, async () => {
    const answer = await clients[protocol].post(path, undefined);
    expect(answer.code).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json');
    const { items } = answer.body as { items: string[] };
    const directory = join(agent.directory, 'checkpoints');
    expect(items).toEqual([
      expect.stringMatching(
        new RegExp(`^${directory}/checkpoint-web-1_default-app-\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ\\.tar$`),
      ),
    ]);
    expect(statSync(items[0]!).mode & 0o777).toBe(0o600);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(readFileSync(items[0]!).subarray(257, 262).toString()).toBe('ustar');
  });

  it.each([
    ['/checkpoint/other/web-1/app', 'pod does not exist'],
    ['/checkpoint/default/web-2/app', 'pod does not exist'],
    ['/checkpoint/default/web-1/sidecar', 'container sidecar does not exist'],
    ['/checkpoint/default/web-1', '404 page not found\n'],
    [`${path}?timeout=soon`, 'cannot parse value of timeout parameter'],
    [`${path}?timeout=1.5`, 'cannot parse value of timeout parameter'],
    ['/checkpoint/default/__proto__/constructor', 'pod does not exist'],
    ['/checkpoint/default/..%2f..%2fweb-1/app', '404 page not found\n'],
  ])(`a checkpoint of %s is not found over ${protocol}`, async (missing, text) => {
    expect(await clients[protocol].post(missing, undefined)).toMatchObject({ code: 404, text });
  });

  it.each([
    ['unimplemented', /code = Unimplemented/],
    ['error', /the runtime failed/],
    ['garbage', /malformed response/],
  ] as const)(`a runtime that answers a checkpoint with %s is a 500 over ${protocol}`, async (behaviour, reason) => {
    await runtime.set({ behaviour: { CheckpointContainer: behaviour } });
    const before = readdirSync(join(agent.directory, 'checkpoints')).length;
    const answer = await clients[protocol].post(path, undefined);
    expect(answer.code).toBe(500);
    expect(answer.text).toMatch(/^checkpointing of default\/web-1\/app failed \(/);
    expect(answer.text).toMatch(reason);
    expect(readdirSync(join(agent.directory, 'checkpoints'))).toHaveLength(before);
  });
});

it.each([
  ['', '30'],
  ['?timeout=0', '30'],
  ['?timeout=1', '30'],
  ['?timeout=47', '47'],
  ['?timeout=45&timeout=49', '49'],
])('the runtime gets its default or the longer timeout of a checkpoint%s', async (query, timeout) => {
  expect((await clients['http/1.1'].post(path + query, undefined)).code).toBe(200);
  expect(await lastCheckpoint()).toMatchObject({ timeout });
});

it('a negative timeout fails the checkpoint (500) without a call of the runtime', async () => {
  const { calls } = await runtime.report();
  expect((await clients.h2.post(`${path}?timeout=-1`, undefined)).code).toBe(500);
  expect((await runtime.report()).calls['CheckpointContainer']).toBe(calls['CheckpointContainer']);
});

it('a checkpoint of a container that has ended fails (500)', async () => {
  expect((await clients.h2.post('/checkpoint/default/web-1/ended', undefined)).code).toBe(500);
});

it('a checkpoint while the runtime hangs fails after its timeout (500)', async () => {
  await runtime.set({ behaviour: { CheckpointContainer: 'hang' } });
  const impatient = await startTestAgent([
    `--container-runtime-endpoint=${runtime.endpoint}`,
    '--feature-gates=ContainerCheckpoint=true',
    '--runtime-request-timeout=1s',
  ]);
  try {
    const answer = await impatient.client().post(path, undefined);
    expect(answer).toMatchObject({ code: 500, text: expect.stringContaining('DeadlineExceeded') as unknown });
  } finally {
    await impatient.stop();
  }
});

it('a checkpoint while the runtime cannot list its Pods fails (500)', async () => {
  await runtime.set({ behaviour: { ListPodSandbox: 'error' } });
  expect((await clients.h2.post(path, undefined)).code).toBe(500);
});

it('checkpoints of one container at the same time get archives of their own', async () => {
  const answers = await Promise.all([1, 2, 3].map(() => clients.h2.post(path, undefined)));
  expect(new Set(answers.map(({ body }) => (body as { items: string[] }).items[0])).size).toBe(3);
});

it('a checkpoint is only taken with POST', async () => {
  expect((await clients['http/1.1'].get(path)).code).toBe(405);
});

it('a directory of checkpoints that all may read becomes private with the first checkpoint', async () => {
  const flags = [`--container-runtime-endpoint=${runtime.endpoint}`, '--feature-gates=ContainerCheckpoint=true'];
  const other = await startTestAgent(flags);
  try {
    mkdirSync(join(other.directory, 'checkpoints'), { mode: 0o755 });
    expect((await other.client().post(path, undefined)).code).toBe(200);
    expect(statSync(join(other.directory, 'checkpoints')).mode & 0o777).toBe(0o700);
  } finally {
    await other.stop();
  }
});

it.each(protocols)('without the gate ContainerCheckpoint, checkpoints are not found over %s', async (protocol) => {
  const other = await startTestAgent([`--container-runtime-endpoint=${runtime.endpoint}`]);
  try {
    expect((await other.client({ protocol }).post(path, undefined)).code).toBe(404);
  } finally {
    await other.stop();
  }
});

it.each(protocols)('an anonymous checkpoint gets 401 over %s with --anonymous-auth=false', async (protocol) => {
  const other = await startTestAgent([
    `--container-runtime-endpoint=${runtime.endpoint}`,
    '--feature-gates=ContainerCheckpoint=true',
    '--anonymous-auth=false',
  ]);
  try {
    const client = other.client({ protocol });
    expect(await client.post(path, undefined)).toMatchObject({ code: 401, text: 'Unauthorized' });
    expect(await client.post('/checkpoint/default/none/app', undefined)).toMatchObject({ code: 401 });
  } finally {
    await other.stop();
  }
});

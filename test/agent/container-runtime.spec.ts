import { ContainerRuntime, RuntimeError } from '../../src/agent/cri/container-runtime.js';
import { systemClock } from '../../src/std/clock.js';
import { CriRuntimeProcess } from '../harness/cri-runtime.js';

const process = new CriRuntimeProcess();
const called: string[] = [];
const observer = { called: (method: string, code: string) => void called.push(`${method} ${code}`) };
const endpoint = `unix:${process.socket}`;
const runtime = new ContainerRuntime({
  ...{ endpoint, imageEndpoint: endpoint, requestTimeoutMs: 60_000, clock: systemClock, observer },
});

beforeAll(() =>
  process.start({
    pods: [
      {
        ...{
          namespace: 'default',
          name: 'web-1',
          uid: 'uid-1',
          ip: '10.0.0.7',
          labels: { ['__proto__x']: 'é', app: 'web' },
        },
        containers: [{ name: 'app', state: 'exited', exitCode: -1, startedMs: 1_700_000_000_123 }],
      },
    ],
    images: [{ id: 'sha256:1', repoTags: ['a:1'], repoDigests: [], size: 6_000_000_000 }],
  }),
);
afterAll(async () => {
  runtime.close();
  await process.stop();
});
beforeEach(() => process.set({ behaviour: {} }));

it('the messages of the container runtime are read with their maps, negative and large numbers', async () => {
  const { items } = await runtime.call('ListPodSandbox', {});
  expect(items).toMatchObject([{ metadata: { name: 'web-1', uid: 'uid-1', namespace: 'default' }, state: 0 }]);
  expect(items[0]!.labels.get('__proto__x')).toBe('é');
  const { containers } = await runtime.call('ListContainers', {});
  const { status } = await runtime.call('ContainerStatus', { containerId: containers[0]!.id });
  expect(status).toMatchObject({ metadata: { name: 'app' }, exitCode: -1, state: 2 });
  expect(Math.round(status!.startedAt / 1e6)).toBe(1_700_000_000_123);
  expect(await runtime.call('ListImages', {})).toMatchObject({ images: [{ size: 6_000_000_000, repoTags: ['a:1'] }] });
  expect(called).toContain('ListImages OK');
});

it('repeated numbers and texts of requests arrive at the container runtime', async () => {
  const { items } = await runtime.call('ListPodSandbox', {});
  await runtime.call('PortForward', { podSandboxId: items[0]!.id, port: [80, 8443] });
  const { containers } = await runtime.call('ListContainers', {});
  await runtime.call('ExecSync', { containerId: containers[0]!.id, cmd: ['a', '', 'b'] });
  expect((await process.report()).requests.slice(-2)).toMatchObject([{}, { cmd: ['a', '', 'b'] }]);
  expect((await process.report()).requests).toContainEqual(expect.objectContaining({ port: [80, 8443] }));
});

it.each([
  ['unimplemented', /^rpc error: code = Unimplemented desc = method Version not implemented$/, true],
  ['error', /^rpc error: code = Unknown desc = the runtime failed$/, false],
  ['garbage', /^rpc error: code = Internal desc = malformed response/, false],
  ['huge', /^rpc error: code = ResourceExhausted/, false],
] as const)('a container runtime that answers %s fails the call', async (behaviour, message, isUnimplemented) => {
  await process.set({ behaviour: { Version: behaviour } });
  const error: unknown = await runtime.call('Version', {}).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(RuntimeError);
  expect(error).toMatchObject({ message: expect.stringMatching(message) as unknown, isUnimplemented });
  await process.set({ behaviour: {} });
  expect(await runtime.call('Version', {})).toMatchObject({ runtimeName: 'stand-in' });
});

it('a container runtime that hangs fails the call after its timeout', async () => {
  await process.set({ behaviour: { Version: 'hang' } });
  await expect(runtime.call('Version', {}, { timeoutMs: 50 })).rejects.toThrow(/DeadlineExceeded/);
});

it('a call without container runtime fails, and succeeds after its restart', async () => {
  await process.kill();
  await expect(runtime.call('Version', {}, { timeoutMs: 300 })).rejects.toThrow(/code = Unavailable/);
  await process.start();
  expect(await runtime.call('Version', {})).toMatchObject({ runtimeApiVersion: 'v1' });
});

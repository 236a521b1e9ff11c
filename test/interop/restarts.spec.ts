import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpClient } from '../harness/http-client.js';
import { Http2Informer, Http2Transport } from '../harness/http2-informer.js';
import { ServerProcess } from '../harness/server-process.js';

// Clients that keep their connections, while the server is restarted at the same address.

const restarts = Number(process.env['RESTARTS'] ?? 3);
const waitMs = 60_000;
/** client-go backs off up to a minute, until two quiet minutes have passed. */
const restartMsMax = 120_000;
/** The first build on a machine downloads and compiles client-go. */
const goBuildMsMax = 900_000;
const namespace = 'default';
const path = `/api/v1/namespaces/${namespace}/configmaps`;

let directory: string;
let server: ServerProcess;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'restarts-'));
  server = await ServerProcess.start(directory, ['--storage-backend=embedded']);
});
afterEach(async () => {
  await server.kill();
  await rm(directory, { recursive: true, force: true });
});

async function write(value: string): Promise<void> {
  const { url, ca, client } = server.access;
  const admin = new HttpClient({ url, ca, ...client });
  try {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { value } };
    const { code } = await admin.patch(`${path}/a?fieldManager=t&force=true`, body, 'application/apply-patch+yaml');
    expect([200, 201]).toContain(code);
  } finally {
    admin.close();
  }
}

async function within(is: () => boolean): Promise<boolean> {
  const deadline = performance.now() + waitMs;
  while (!is() && performance.now() < deadline) await sleep(10);
  return is();
}

test(
  'after SIGTERM, HTTP/2 clients that keep their session reach the next server, and are never refused',
  async () => {
    const { url, ca, client } = server.access;
    const transport = new Http2Transport(url, { ca, cert: client.certificate, key: client.key });
    const informers = Array.from({ length: 6 }, () => new Http2Informer(transport, path));
    const stopMs: number[] = [];
    for (let round = 0; round < restarts; round++) {
      const begin = performance.now();
      expect(await server.stop('SIGTERM')).toBe(0);
      stopMs.push(Math.round(performance.now() - begin));
      await server.start();
      await write(`round-${round}`);
      expect(await within(() => informers.every(({ values }) => values.get('a') === `round-${round}`))).toBe(true);
    }
    // Within the grace period of requests; a server on a busy machine may take longer to stop.
    expect(Math.min(...stopMs)).toBeLessThan(5_000);
    expect(informers.map(({ refused }) => refused)).toEqual(informers.map(() => 0));
    informers.forEach((informer) => informer.stop());
    transport.close();
  },
  restarts * restartMsMax,
);

describe('informers of client-go', () => {
  const source = join(__dirname, 'go-informers');
  let program: string | undefined;
  let child: ChildProcess | undefined;
  beforeAll(async () => {
    program = build();
    if (program === undefined) process.stderr.write('Go is not on PATH: restarts under client-go were not tested\n');
  }, goBuildMsMax);
  afterEach(() => void child?.kill('SIGKILL'));
  afterAll(async () => {
    if (program !== undefined) await rm(join(program, '..'), { recursive: true, force: true });
  });

  function build(): string | undefined {
    try {
      execFileSync('go', ['version'], { stdio: 'ignore' });
    } catch {
      return undefined;
    }
    const built = join(tmpdir(), `go-informers-${process.pid}`, 'go-informers');
    execFileSync('nice', ['go', 'build', '-p', '2', '-o', built, '.'], { cwd: source, stdio: 'inherit' });
    return built;
  }

  it.each(['SIGTERM', 'SIGKILL'] as const)(
    '%s: all of them recover after each restart',
    async (signal) => {
      if (program === undefined) return;
      child = spawn(program, [join(directory, 'kubeconfig'), namespace], { stdio: ['pipe', 'pipe', 'ignore'] });
      const lines = createInterface(child.stdout!)[Symbol.asyncIterator]();
      expect((await lines.next()).value).toBe('ready 24');
      const recoveredMs: number[] = [];
      for (let round = 0; round < restarts; round++) {
        await server.stop(signal);
        await server.start();
        await write(`${signal}-${round}`);
        child.stdin!.write(`a ${signal}-${round}\n`);
        const { value } = await lines.next();
        expect(value).toMatch(/^ok /);
        recoveredMs.push(Number(String(value).slice(3)));
      }
      process.stderr.write(`${signal}: recovered after ${recoveredMs.join(', ')} ms\n`);
      child.stdin!.end();
      await once(child, 'exit');
    },
    restarts * restartMsMax,
  );
});

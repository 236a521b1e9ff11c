import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { killedAtExit } from '../../scripts/killed-at-exit.js';
import { eventually } from '../harness/eventually.js';
import { StreamingGateway } from '../harness/streaming-gateway.js';
import { StreamingKubelet } from '../harness/streaming-kubelet.js';

const goBuildMsMax = 1_800_000;
const source = join(__dirname, 'go-streams');
const directory = join(tmpdir(), `go-streams-${process.pid}`);
const program = join(directory, 'go-streams');

/** Builds the Go program: the streaming server of container runtimes, and the clients of client-go. */
function isBuilt(): boolean {
  try {
    execFileSync('go', ['version'], { stdio: 'ignore' });
    execFileSync('go', ['mod', 'download'], { cwd: source, stdio: 'ignore' });
  } catch {
    process.stderr.write('skipped: streams of client-go and of the streaming server: Go, or its modules, not found\n');
    return false;
  }
  execFileSync('nice', ['go', 'build', '-p', '2', '-o', program, '.'], { cwd: source, stdio: 'inherit' });
  return true;
}

const children: ChildProcess[] = [];
function start(words: readonly string[]): ChildProcess {
  const child = killedAtExit(spawn(program, words, { stdio: ['pipe', 'pipe', 'pipe'] }));
  children.push(child);
  return child;
}
async function portOf(child: ChildProcess): Promise<number> {
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  return (JSON.parse((await lines.next()).value as string) as { port: number }).port;
}

/** Runs a command of client-go. */
async function run(client: string, url: string, input = '') {
  const child = start(['exec', client, url]);
  child.stdin!.on('error', () => undefined);
  child.stdin!.end(input);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, 'exit') as Promise<[number]>,
  ]);
  return { stdout, stderr, code };
}

const command = (words: readonly string[], streams: string) =>
  `/exec/default/pod/main?${streams}&${words.map((word) => `command=${encodeURIComponent(word)}`).join('&')}`;

let built = false;
let kubelet: StreamingKubelet;
let gateway: StreamingGateway;
let gatewayToOriginal: StreamingGateway;
let web: Server;
beforeAll(async () => {
  built = isBuilt();
  if (!built) return;
  const original = await portOf(start(['serve']));
  kubelet = await StreamingKubelet.start();
  gateway = await StreamingGateway.start({ scheme: 'http', host: '127.0.0.1', port: kubelet.port });
  gatewayToOriginal = await StreamingGateway.start({ scheme: 'http', host: '127.0.0.1', port: original });
  web = createServer((request, response) => request.pipe(response));
  web.listen(0, '127.0.0.1');
  await once(web, 'listening');
}, goBuildMsMax);
afterAll(() => {
  if (!built) return;
  children.forEach((child) => child.kill('SIGKILL'));
  gateway.stop();
  gatewayToOriginal.stop();
  kubelet.stop();
  web.close();
  web.closeAllConnections();
  rmSync(directory, { recursive: true, force: true });
});

const routes = [
  { client: 'spdy', server: 'our server', host: () => `127.0.0.1:${kubelet.port}` },
  { client: 'websocket', server: 'our translator to our server', host: () => gateway.host },
  { client: 'websocket', server: 'our translator to the original server', host: () => gatewayToOriginal.host },
];

describe.each(routes)('client-go over $client and $server', ({ client, server, host }) => {
  const exec = (words: readonly string[], streams: string, input?: string) =>
    run(client, `http://${host()}${command(words, streams)}`, input);

  it('runs a command', async () => {
    if (!built) return;
    const outcome = await exec(['sh', '-c', 'echo out; echo err >&2; exit 9'], 'output=1&error=1');
    expect(outcome).toEqual({ stdout: 'out\n', stderr: 'err\n', code: 9 });
  });

  it('sends input until its end', async () => {
    if (!built) return;
    const input = '0123456789abcdef'.repeat(300_000);
    const { stdout, code } = await exec(['cat'], 'input=1&output=1', input);
    expect({ code, isEqual: stdout === input }).toEqual({ code: 0, isEqual: true });
  });

  it('ends a command that leaves its input unread', async () => {
    if (!built) return;
    const outcome = await exec(['echo', 'done'], 'input=1&output=1', 'x'.repeat(100_000));
    expect(outcome).toEqual({ stdout: 'done\n', stderr: '', code: 0 });
  });

  it('is told of a command that cannot be run', async () => {
    if (!built) return;
    const { stderr, code } = await exec(['/no/such/program'], 'output=1');
    expect({ stderr, code }).toEqual({ stderr: expect.stringContaining('/no/such/program'), code: 100 });
  });

  it('forwards a port', async () => {
    if (!built) return;
    const { port } = web.address() as AddressInfo;
    const child = start(['forward', client, `http://${host()}/portForward/default/pod`, `0:${port}`]);
    const local = await portOf(child);
    const bodies = Array.from({ length: 20 }, (_, i) => `${i}`.repeat(100_000));
    const answers = await Promise.all(
      bodies.map(async (body) => (await fetch(`http://127.0.0.1:${local}/`, { method: 'POST', body })).text()),
    );
    expect(answers.map((answer, i) => answer === bodies[i])).toEqual(Array<boolean>(20).fill(true));
    child.kill();
    await once(child, 'exit');
  });

  it('is told of a port on which nothing listens', async () => {
    if (!built) return;
    const forward = async () => {
      const child = start(['forward', client, `http://${host()}/portForward/default/pod`, '0:1']);
      const errors = text(child.stderr!);
      const local = await portOf(child);
      await expect(fetch(`http://127.0.0.1:${local}/`)).rejects.toThrow();
      child.kill();
      return errors;
    };
    let errors = await forward();
    // The original server does not wait until it has accepted a stream before it resets it, and its client then says no more.
    const mayReset = server.endsWith('the original server');
    for (let again = 0; mayReset && again < 5 && errors.includes('Stream reset'); again++) errors = await forward();
    expect(errors).toMatch(/error forwarding port 1 to pod.*refused/i);
  });
});

it('a terminal size of client-go reaches the original server through the translator', async () => {
  if (!built) return;
  const url = `http://${gatewayToOriginal.host}${command(['size'], 'input=1&output=1&tty=1')}`;
  expect(await run('websocket', url)).toMatchObject({ stdout: '123 45', code: 0 });
});

it('nothing is left after all clients have gone', async () => {
  if (!built) return;
  await eventually('connections and processes end', async () => {
    const { processes, sockets } = await kubelet.state();
    return processes === 0 && sockets === 0 && gateway.sockets.size === 0 && gatewayToOriginal.sockets.size === 0;
  });
});

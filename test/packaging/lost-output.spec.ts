import { execFileSync, spawn, spawnSync, type ChildProcess, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { killedAtExit } from '../../scripts/killed-at-exit.js';
import { packageRoot } from '../../src/config/config-files.js';
import { eventually } from '../harness/eventually.js';
import { freePorts } from '../harness/ports.js';

// Programs that read the output of the server may end before it, and disks are full: it serves on, and exits when it is told to.

let folder: string;
let child: ChildProcess | undefined;
let port: number;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keelson-output-'));
  port = (await freePorts(1))[0]!;
});
afterEach(() => {
  child?.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

/** Starts the built server, which logs each request. */
function serve(stdio: StdioOptions, ...flags: string[]): ChildProcess {
  const words = ['serve', '--storage-backend=memory', `--secure-port=${port}`, '--data-dir=data', '-v=4', ...flags];
  child = spawn(process.execPath, [join(packageRoot, 'bin/keelson'), ...words], { cwd: folder, stdio });
  killedAtExit(child);
  return child;
}

const readyz = () => get('/readyz');

const get = (path: string) =>
  new Promise<number | undefined>((resolve) => {
    const headers = path === '/readyz' ? {} : { authorization: 'Bearer administrator' };
    const asked = request({ port, path, headers, rejectUnauthorized: false, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    asked.on('error', () => resolve(undefined));
    asked.end();
  });

async function isReady(server: ChildProcess): Promise<void> {
  await eventually('the server is ready', async () => {
    expect([server.exitCode, server.signalCode]).toEqual([null, null]);
    return (await readyz()) === 200;
  });
}

async function exitCodeAfterSigterm(server: ChildProcess): Promise<unknown> {
  const exited = once(server, 'exit');
  server.kill('SIGTERM');
  return (await exited)[0];
}

test('the readers of its output and of its log have gone', async () => {
  const server = serve(['ignore', 'pipe', 'pipe']);
  server.stdout!.destroy();
  await isReady(server);
  server.stderr!.destroy();
  await isReady(server);
  await isReady(server);
  expect(await exitCodeAfterSigterm(server)).toBe(0);
});

test('the reader of its log goes when it is told to exit', async () => {
  const server = serve(['ignore', 'ignore', 'pipe']);
  await isReady(server);
  server.stderr!.destroy();
  expect(await exitCodeAfterSigterm(server)).toBe(0);
});

const testOnLinux = process.platform === 'linux' ? test : test.skip;

testOnLinux('the disk with its log is full', async () => {
  const full = openSync('/dev/full', 'w');
  const server = serve(['ignore', 'ignore', full]);
  closeSync(full);
  await isReady(server);
  await isReady(server);
  expect(await exitCodeAfterSigterm(server)).toBe(0);
});

testOnLinux('a command whose output is on a full disk says so', async () => {
  const full = openSync('/dev/full', 'w');
  const command = spawn(process.execPath, [join(packageRoot, 'bin/keelson'), '--help'], {
    stdio: ['ignore', full, 'pipe'],
  });
  closeSync(full);
  let printed = '';
  command.stderr!.on('data', (chunk) => (printed += String(chunk)));
  expect(await once(command, 'close')).toEqual([1, null]);
  expect(printed).toContain('the output could not be written: ENOSPC');
});

/** Of a hundred requests with it in their URL, the events do not fit into the buffers of a pipe. */
const longFiller = 'x'.repeat(10_000);

/** The flags of an audit log on standard output of everything but /readyz. */
function auditFlags(path = '-'): string[] {
  const policy = {
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived'],
    rules: [{ level: 'None', nonResourceURLs: ['/readyz'] }, { level: 'Metadata' }],
  };
  writeFileSync(join(folder, 'policy.json'), JSON.stringify(policy));
  // Requests of administrators are not queued.
  writeFileSync(join(folder, 'tokens.csv'), 'administrator,administrator,1,system:masters\n');
  return ['--audit-policy-file=policy.json', `--audit-log-path=${path}`, '--token-auth-file=tokens.csv'];
}

test('the reader of the audit log on its output is busy for some time', async () => {
  const server = serve(['ignore', 'pipe', 'ignore'], ...auditFlags());
  await isReady(server);
  const count = 100;
  const answers = Array.from({ length: count }, (_, index) => get(`/version?number=${index}&filler=${longFiller}`));
  let answered = 0;
  for (const answer of answers) void answer.then(() => answered++);
  let before = -1;
  await eventually('the output takes no more lines', async () => {
    const isStuck = answered === before;
    before = answered;
    await sleep(500);
    return isStuck;
  });
  expect(answered).toBeLessThan(count);
  expect(await readyz()).toBe(200);

  let printed = '';
  server.stdout!.setEncoding('utf8').on('data', (text: string) => (printed += text));
  expect(new Set(await Promise.all(answers))).toEqual(new Set([200]));
  expect(await exitCodeAfterSigterm(server)).toBe(0);
  const events = printed.split('\n').filter((line) => line.startsWith('{'));
  const numbers = events
    .map((line) => JSON.parse(line) as { requestURI: string })
    .map(({ requestURI }) => Number(/^\/version\?number=(\d+)&/.exec(requestURI)?.[1]))
    .filter((number) => !Number.isNaN(number));
  expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, index) => index));
});

const unread = [
  { name: 'its output', path: '-' },
  ...(process.platform === 'linux' ? [{ name: 'a named pipe', path: 'audit.pipe' }] : []),
];

test.each(unread)('nobody ever reads the audit log, which is $name', async ({ path }) => {
  if (path !== '-') execFileSync('mkfifo', [join(folder, path)]);
  const server = serve(['ignore', 'pipe', 'ignore'], ...auditFlags(path));
  await isReady(server);
  for (let index = 0; index < 100; index++) void get(`/version?filler=${longFiller}`);
  await sleep(2000);
  expect(await readyz()).toBe(200);
  expect(await exitCodeAfterSigterm(server)).toBe(0);
});

// prlimit lets writes to files fail for some time, as a full disk does.
const hasPrlimit = process.platform === 'linux' && spawnSync('prlimit', ['--version']).status === 0;

(hasPrlimit ? test : test.skip)(
  'the disk with the audit log on its output has space again (needs prlimit)',
  async () => {
    const path = join(folder, 'events');
    const output = openSync(path, 'a');
    const server = serve(['ignore', output, 'ignore'], ...auditFlags());
    closeSync(output);
    await isReady(server);
    const limitFiles = (bytes: number | 'unlimited') =>
      execFileSync('prlimit', ['--pid', String(server.pid), `--fsize=${bytes}:unlimited`]);
    expect(await get('/version?before')).toBe(200);
    limitFiles(statSync(path).size);
    expect(await get('/version?meanwhile')).toBe(200);
    limitFiles('unlimited');
    expect(await get('/version?after')).toBe(200);
    expect(await exitCodeAfterSigterm(server)).toBe(0);
    const uris = [...readFileSync(path, 'utf8').matchAll(/"requestURI":"\/version\?(\w+)"/g)].map(([, query]) => query);
    expect(uris).toEqual(['before', 'after']);
  },
);

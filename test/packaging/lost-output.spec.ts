import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
function serve(stdio: StdioOptions): ChildProcess {
  const words = ['serve', '--storage-backend=memory', `--secure-port=${port}`, '--data-dir=data', '-v=4'];
  child = spawn(process.execPath, [join(packageRoot, 'bin/keelson'), ...words], { cwd: folder, stdio });
  killedAtExit(child);
  return child;
}

const readyz = () =>
  new Promise<number | undefined>((resolve) => {
    const asked = request({ port, path: '/readyz', rejectUnauthorized: false, agent: false }, (answer) => {
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

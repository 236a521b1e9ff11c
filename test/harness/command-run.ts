import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { killedAtExit } from '../../scripts/killed-at-exit.js';

const top = join(__dirname, '../..');
const startMsMaxDefault = 120_000;

const running = new Set<ChildProcess>();
/** Ends commands that failed tests have not stopped: jest would wait for them forever. */
afterAll(() => running.forEach((child) => child.kill('SIGKILL')));

export interface CommandOptions {
  readonly program?: 'keelson' | 'kube-apiserver';
  readonly cwd: string;
  readonly words: readonly string[];
  /** Instead of this process's environment; PATH is kept. */
  readonly env?: Readonly<Record<string, string>>;
  readonly umask?: string;
  /** Runs it as this user, which only root can do. */
  readonly uid?: number;
  /** Time after which a command that neither serves nor exits is killed. */
  readonly startMsMax?: number;
}

interface CommandRun {
  /** Undefined while it serves. */
  readonly code: number | null | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** https://127.0.0.1:port */
  readonly url: string;
  /** The exit code after SIGTERM. */
  stop(): Promise<number | null>;
}

/** Runs the built command until it serves or exits. */
export async function runCommand(options: CommandOptions): Promise<CommandRun> {
  const { program = 'keelson', cwd, words, env = {}, umask = '022', uid, startMsMax = startMsMaxDefault } = options;
  if (!existsSync(join(top, 'dist/bundle/main.js'))) throw new Error('the server is not built: run "npm run build"');
  const child = spawn(
    '/bin/sh',
    ['-c', `umask ${umask}; exec "$0" "$@"`, process.execPath, join(top, 'bin', program), ...words],
    {
      cwd,
      env: { PATH: process.env['PATH'] ?? '', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(uid !== undefined && { uid, gid: uid }),
    },
  );
  killedAtExit(child);
  running.add(child);
  const printed = { stdout: '', stderr: '' };
  let code: number | null | undefined;
  const ended = new Promise<void>((resolve) =>
    child.once('close', (status) => {
      code = status;
      running.delete(child);
      resolve();
    }),
  );
  const serving = new Promise<void>((resolve) => {
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream].on('data', (chunk: Buffer) => {
        printed[stream] += chunk.toString();
        if (stream === 'stdout' && printed.stdout.includes('Serving ')) resolve();
      });
    }
  });
  const late = setTimeout(() => child.kill('SIGKILL'), startMsMax);
  await Promise.race([ended, serving]);
  clearTimeout(late);
  return {
    get code() {
      return code;
    },
    get stdout() {
      return printed.stdout;
    },
    get stderr() {
      return printed.stderr;
    },
    url: /Serving (https:\S+)/.exec(printed.stdout)?.[1] ?? '',
    async stop() {
      child.kill('SIGTERM');
      await ended;
      return code ?? null;
    },
  };
}

import { spawn } from 'node:child_process';
import { killedAtExit } from '../../scripts/killed-at-exit.js';

const startMsMax = 120_000;

interface ProgramOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** User and group that it runs as, which only root can choose. */
  readonly uid?: number | undefined;
}

interface StartedProgram {
  readonly url: string;
  readonly pid: number;
  readonly output: () => string;
  readonly isRunning: () => boolean;
  /** Resolves with the exit code; null after SIGKILL. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
}

/** Runs a program until it prints the URL that it serves. Rejects with its output if it ends before. */
export async function startProgram(
  program: string,
  words: readonly string[],
  { cwd, env = {}, uid }: ProgramOptions,
): Promise<StartedProgram> {
  const child = killedAtExit(
    spawn(program, words, {
      cwd,
      env: { PATH: process.env['PATH'] ?? '', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(uid !== undefined && { uid, gid: uid }),
    }),
  );
  let output = '';
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const failure = new Promise<Error>((resolve) => child.once('error', resolve));
  const serving = new Promise<string>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        const url = /Serving (?:node \S+ at )?(https:\S+)/.exec(output)?.[1];
        if (url !== undefined) resolve(url);
      });
    }
  });
  const late = setTimeout(() => child.kill('SIGKILL'), startMsMax);
  const outcome = await Promise.race([serving, failure, ended.then((code) => new Error(`ended with ${code}`))]);
  clearTimeout(late);
  if (typeof outcome !== 'string') throw new Error(`${program}: ${outcome.message}\n${output}`);
  return {
    url: outcome,
    pid: child.pid!,
    output: () => output,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    stop(signal = 'SIGTERM') {
      child.kill(signal);
      return ended;
    },
  };
}

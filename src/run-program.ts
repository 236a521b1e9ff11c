import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/** Runs a program with the terminal of this process. Returns its exit code; undefined if it cannot be started. */
export async function runProgram(
  name: string,
  words: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<number | undefined> {
  const child = spawn(name, words, { stdio: 'inherit', env });
  // A server that the program uses must outlive it. A terminal sends SIGINT to both, and many programs give up at the second one.
  const hasTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
  const pass = (signal: NodeJS.Signals) => {
    if (signal !== 'SIGINT' || !hasTerminal) child.kill(signal);
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, pass);
  try {
    return await new Promise<number | undefined>((resolve) => {
      child.once('error', () => resolve(undefined));
      child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal!]));
    });
  } finally {
    for (const signal of signals) process.off(signal, pass);
  }
}

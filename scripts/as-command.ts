import { existsSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { UsageError } from './read-options.js';

interface Command {
  /** The usage, what the command does, and every option with its default. */
  readonly help: string;
  /** Returns the exit code. */
  readonly run: (words: readonly string[]) => Promise<number>;
  /** True if an error shows where it was thrown. */
  readonly showsStack?: boolean;
}

/**
 * Runs a command if its module is the program that node runs, and not if it is imported. Exits with 2 if its words are
 * wrong, and with 1 on other errors.
 */
export function asCommand(moduleUrl: string, { help, run, showsStack = false }: Command): void {
  const started = process.argv[1];
  if (started === undefined || !existsSync(started) || realpathSync(started) !== fileURLToPath(moduleUrl)) return;
  const words = process.argv.slice(2);
  if (words.includes('--help') || words.includes('-h')) return print(help);
  run(words).then(
    (code) => (process.exitCode = code),
    (error: unknown) => {
      process.stderr.write(`${describe(error, showsStack)}\n`);
      // Exits although programs that it has started may still run: they end with the process.
      process.exit(error instanceof UsageError ? 2 : 1);
    },
  );
}

function describe(error: unknown, showsStack: boolean): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof UsageError) return `${error.message}\nSee --help.`;
  return showsStack ? (error.stack ?? error.message) : error.message;
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

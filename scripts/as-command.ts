import { existsSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Runs `main` if its module is the program that node runs, and not if it is imported. */
export function asCommand(
  moduleUrl: string,
  main: (words: readonly string[]) => Promise<number>,
  describe = (error: Error): string => error.message,
): void {
  const started = process.argv[1];
  if (started === undefined || !existsSync(started) || realpathSync(started) !== fileURLToPath(moduleUrl)) return;
  main(process.argv.slice(2)).then(
    (code) => (process.exitCode = code),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? describe(error) : String(error)}\n`);
      process.exitCode = 1;
    },
  );
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

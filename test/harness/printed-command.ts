import { main } from '../../src/main.js';

interface Printed {
  readonly code: number | undefined;
  readonly out: string;
  readonly err: string;
}

/** Runs a command of `keelson` in this process and returns its exit code and what it printed. */
export async function printedBy(words: readonly string[]): Promise<Printed> {
  const printed = { out: '', err: '' };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    jest.spyOn(process[name], 'write').mockImplementation((chunk) => {
      printed[name === 'stdout' ? 'out' : 'err'] += String(chunk);
      return true;
    }),
  );
  try {
    const code = await main('keelson', words);
    return { code, ...printed };
  } finally {
    spies.forEach((spy) => spy.mockRestore());
  }
}

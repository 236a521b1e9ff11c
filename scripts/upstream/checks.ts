import { setTimeout as sleep } from 'node:timers/promises';

interface Check {
  readonly name: string;
  readonly isGood: boolean;
  readonly detail: string;
}

/** Collects the rows of the table that a run prints. */
export class Checks {
  readonly rows: Check[] = [];

  constructor(private readonly say: (line: string) => void) {}

  add(name: string, isGood: boolean, detail = ''): void {
    this.rows.push({ name, isGood, detail });
    this.say(`${isGood ? 'ok    ' : 'FAILED'}  ${name}${detail && `: ${detail}`}`);
  }

  /** Runs `action`; its result is the detail of the row, its error the reason of the failure. */
  async run(name: string, action: () => Promise<string | void>): Promise<void> {
    try {
      this.add(name, true, (await action()) ?? '');
    } catch (error) {
      this.add(name, false, (error as Error).message);
    }
  }
}

const stepMs = 200;
const eventuallyMsMax = 60_000;

/** Resolves with the first value of `look` that is not undefined; throws the text of `describe` after a timeout. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined>,
  msMax = eventuallyMsMax,
  describe: () => string = () => '',
): Promise<T> {
  const deadline = performance.now() + msMax;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error(`${what}: not within ${msMax / 1000} s ${describe()}`.trim());
    await sleep(stepMs);
  }
}

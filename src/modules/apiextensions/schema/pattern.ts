import { RE2JS } from 're2js';

/**
 * Patterns come from users and are matched on the one thread that serves everybody, so they are run by an engine whose
 * time grows with the text alone; it also reads them as Go does. Read at the first use, since most kinds have more
 * patterns than anybody's objects meet.
 */
export class Pattern {
  private engine: RE2JS | string | undefined;

  constructor(private readonly source: string) {}

  /** What a text that does not match is told. */
  problemOf(text: string): string | undefined {
    const engine = (this.engine ??= read(this.source));
    if (typeof engine === 'string') return `should match '${this.source}, but pattern is invalid: ${engine}'`;
    return engine.test(text) ? undefined : `should match '${this.source}'`;
  }
}

/** The engine, or what is wrong with the pattern. */
function read(source: string): RE2JS | string {
  try {
    return RE2JS.compile(source);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

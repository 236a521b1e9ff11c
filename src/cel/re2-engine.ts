import { createRequire } from 'node:module';
import type * as Re2 from 're2js';
import type { Regex, RegexEngine } from './libraries/regex.js';

let loaded: typeof Re2 | undefined;
/** Loaded on first use: many servers never see a pattern. */
const re2 = (): typeof Re2 => (loaded ??= createRequire(import.meta.url)('re2js') as typeof Re2);

/**
 * RE2 as the engine of regular expressions. `problemOf` refuses patterns that are too large before they are compiled.
 */
export function re2Engine(problemOf: (pattern: string) => string | undefined = () => undefined): RegexEngine {
  return {
    compile(pattern) {
      const problem = problemOf(pattern);
      if (problem !== undefined) return problem;
      try {
        return new Re2Regex(re2().RE2JS.compile(pattern));
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        // Go always names the place, also where there is none.
        return message.endsWith('at end of expression') ? `${message}: \`\`` : message;
      }
    },
  };
}

class Re2Regex implements Regex {
  constructor(private readonly regex: Re2.RE2JS) {}

  test(text: string): boolean {
    return this.regex.test(text);
  }
  find(text: string): string {
    const matcher = this.regex.matcher(text);
    return matcher.find() ? (matcher.group() ?? '') : '';
  }
  findAll(text: string, max: number): string[] {
    const matcher = this.regex.matcher(text);
    const found: string[] = [];
    let end = -1;
    while ((max < 0 || found.length < max) && matcher.find()) {
      const match = matcher.group() ?? '';
      // An empty match right behind another one is none.
      if (match !== '' || matcher.start() !== end) found.push(match);
      end = matcher.end();
    }
    return found;
  }
}

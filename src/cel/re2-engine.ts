import { Pattern } from '../regex/pattern.js';
import type { Regex, RegexEngine } from './libraries/regex.js';

/** Returns RE2 as the engine of regular expressions. Patterns that take long to compile are invalid. */
export function re2Engine(): RegexEngine {
  return {
    compile(source) {
      const pattern = Pattern.of(source);
      return pattern.problem ?? new Re2Regex(pattern);
    },
  };
}

class Re2Regex implements Regex {
  constructor(private readonly pattern: Pattern) {}

  test(text: string): boolean {
    return this.pattern.test(text);
  }
  find(text: string): string {
    return this.pattern.find(text) ?? '';
  }
  findAll(text: string, max: number): string[] {
    const found: string[] = [];
    if (max === 0) return found;
    for (const match of this.pattern.findEach(text)) if (found.push(match) === max) break;
    return found;
  }
}

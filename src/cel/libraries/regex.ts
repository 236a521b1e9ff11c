import type { FunctionDeclaration, Implementation } from '../check/declarations.js';
import { declare, declareOne, member, overload } from '../check/declarations.js';
import { literalValidator } from '../check/validators.js';
import { listOf, types } from '../types.js';
import type { Value } from '../values/value.js';
import { CelError, orNoSuchOverload } from '../values/value.js';
import type { Library } from './library.js';

const { bool, int, string } = types;

/**
 * Runs regular expressions in the syntax of RE2, in a time that grows with the text alone. It is handed in, since
 * JavaScript's own expressions have neither.
 */
export interface RegexEngine {
  /** The expression, or what is wrong with it: `error parsing regexp: missing closing ): …`. */
  compile(pattern: string): Regex | string;
}
export interface Regex {
  test(text: string): boolean;
  /** The leftmost match; '' if there is none. */
  find(text: string): string;
  /** All matches, or the first `max` of them if it is not negative. */
  findAll(text: string, max: number): string[];
}

/** Expressions are compiled once; those of older texts make room. */
const cachedMax = 500;

class CachedRegexes {
  private readonly cached = new Map<string, Regex | string>();
  constructor(private readonly engine: RegexEngine) {}

  of(pattern: string): Regex | string {
    const known = this.cached.get(pattern);
    if (known !== undefined) return known;
    if (this.cached.size >= cachedMax) this.cached.clear();
    const compiled = this.engine.compile(pattern);
    this.cached.set(pattern, compiled);
    return compiled;
  }
}

function withRegex(
  regexes: CachedRegexes,
  errorPrefix: string,
  run: (regex: Regex, text: string, max: Value | undefined) => Value,
): Implementation {
  return (text, pattern, max) => {
    if (typeof text !== 'string') return orNoSuchOverload(text);
    if (typeof pattern !== 'string') return orNoSuchOverload(pattern);
    const regex = regexes.of(pattern);
    return typeof regex === 'string' ? new CelError(errorPrefix + regex) : run(regex, text, max);
  };
}

const patternOf = (regexes: CachedRegexes, impl: Implementation) => ({
  check: (pattern: string): string | undefined => {
    const regex = regexes.of(pattern);
    return typeof regex === 'string' ? regex : undefined;
  },
  impl,
});

/** `matches`, which is part of the language. */
export function matchesLibrary(engine: RegexEngine): Library {
  const regexes = new CachedRegexes(engine);
  const matches = withRegex(regexes, '', (regex, text) => regex.test(text));
  const guarded: Implementation = (text, pattern) =>
    typeof text === 'string' || text instanceof CelError
      ? matches(text, pattern)
      : new CelError('no such overload: matches');
  const declared: FunctionDeclaration = {
    ...declareOne(
      'matches',
      guarded,
      overload('matches', [string, string], bool),
      member('matches_string', [string, string], bool),
    ),
    pattern: patternOf(regexes, matches),
  };
  return { name: 'matches', functions: [declared] };
}

/** Refuses literal patterns that are none. */
export function regexValidatorLibrary(engine: RegexEngine): Library {
  const regexes = new CachedRegexes(engine);
  const isValid = (value: Value): boolean => typeof value !== 'string' || typeof regexes.of(value) !== 'string';
  return { name: 'regex literals', validators: [literalValidator('matches', isValid)] };
}

/** Kubernetes' find and findAll. */
export function regexLibrary(engine: RegexEngine): Library {
  const regexes = new CachedRegexes(engine);
  const find = withRegex(regexes, 'Illegal regex: ', (regex, text) => regex.find(text));
  const findAll = withRegex(regexes, 'Illegal regex: ', (regex, text, max) =>
    regex.findAll(text, max === undefined ? -1 : Number(max)),
  );
  const texts = listOf(string);
  return {
    name: 'kubernetes.regex',
    functions: [
      {
        ...declare('find', member('string_find_string', [string, string], string, find)),
        pattern: patternOf(regexes, find),
      },
      {
        ...declare(
          'findAll',
          member('string_find_all_string', [string, string], texts, findAll),
          member('string_find_all_string_int', [string, string, int], texts, findAll),
        ),
        pattern: patternOf(regexes, findAll),
      },
    ],
  };
}

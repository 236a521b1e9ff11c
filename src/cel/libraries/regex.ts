import type { FunctionDeclaration, Implementation } from '../check/declarations.js';
import { declare, declareOne, member, overload } from '../check/declarations.js';
import { literalValidator } from '../check/validators.js';
import { listOf, types } from '../types.js';
import type { Value } from '../values/value.js';
import { CelError, orNoSuchOverload } from '../values/value.js';
import type { Library } from './library.js';

const { bool, int, string } = types;

/** Regular expressions in the syntax of RE2, whose time grows linearly with the text; JavaScript's own have neither. */
export interface RegexEngine {
  /** Returns the expression, or its error: `error parsing regexp: missing closing ): …`. Called for every match. */
  compile(pattern: string): Regex | string;
}
export interface Regex {
  test(text: string): boolean;
  /** The leftmost match; '' if there is none. */
  find(text: string): string;
  /** All matches, or the first `max` of them if it is not negative. */
  findAll(text: string, max: number): string[];
}

type Search = (regex: Regex, text: string, max: Value | undefined) => Value;

function withRegex(engine: RegexEngine, errorPrefix: string, search: Search): Implementation {
  return (text, pattern, max) => {
    if (typeof text !== 'string') return orNoSuchOverload(text);
    if (typeof pattern !== 'string') return orNoSuchOverload(pattern);
    const regex = engine.compile(pattern);
    return typeof regex === 'string' ? new CelError(errorPrefix + regex) : search(regex, text, max);
  };
}

/** The search with a constant pattern. */
const bound =
  (engine: RegexEngine, search: Search) =>
  (pattern: string): Implementation | string => {
    const regex = engine.compile(pattern);
    if (typeof regex === 'string') return regex;
    return (text, _, max) => (typeof text === 'string' ? search(regex, text, max) : orNoSuchOverload(text));
  };

/** `matches`, which is part of the language. */
export function matchesLibrary(engine: RegexEngine): Library {
  const test: Search = (regex, text) => regex.test(text);
  const matches = withRegex(engine, '', test);
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
    withPattern: bound(engine, test),
  };
  return { name: 'matches', functions: [declared] };
}

/** Rejects invalid literal patterns. */
export function regexValidatorLibrary(engine: RegexEngine): Library {
  const isValid = (value: Value): boolean => typeof value !== 'string' || typeof engine.compile(value) !== 'string';
  return { name: 'regex literals', validators: [literalValidator('matches', isValid)] };
}

/** Kubernetes' find and findAll. */
export function regexLibrary(engine: RegexEngine): Library {
  const first: Search = (regex, text) => regex.find(text);
  const all: Search = (regex, text, max) => regex.findAll(text, max === undefined ? -1 : Number(max));
  const find = withRegex(engine, 'Illegal regex: ', first);
  const findAll = withRegex(engine, 'Illegal regex: ', all);
  const texts = listOf(string);
  return {
    name: 'kubernetes.regex',
    functions: [
      {
        ...declare('find', member('string_find_string', [string, string], string, find)),
        withPattern: bound(engine, first),
      },
      {
        ...declare(
          'findAll',
          member('string_find_all_string', [string, string], texts, findAll),
          member('string_find_all_string_int', [string, string, int], texts, findAll),
        ),
        withPattern: bound(engine, all),
      },
    ],
  };
}

import { RE2JS } from 're2js';
import { SeededRng } from '../std/rng.js';
import { Automaton } from './automaton.js';
import { Program } from './program.js';
import { findMatch, hasMatch } from './search.js';

const atoms = [
  ...['a', 'b', '1', '_', '.', '\\d', '\\w', '\\s', '[a-c]', '[^a]', '[[:upper:]]', '\\pL', '[\\p{Greek}x]', '\\n', ''],
  ...['\\b', '\\B', '^', '$', '\\A', '\\z', '\u00e9', '\u{1f600}', '\u212a', '\u017f'],
];
const suffixes = ['*', '+', '?', '*?', '+?', '??', '{2}', '{1,3}', '{0,2}?', '{2,}'];
const flags = ['i', 's', 'm', 'U', 'im', 'is'];
/** Includes halves of surrogate pairs, and letters that are equal when case is ignored. */
const characters = [
  ...['a', 'a', 'b', 'c', 'A', 'B', '1', '_', ' ', '\n', 'K', 's'],
  ...['\u00e9', '\u{1f600}', '\ud83d', '\ude00', '\u212a', '\u017f', '\u03a3', '\u03c2'],
];

class RandomPatterns {
  private readonly rng: SeededRng;
  constructor(seed: number) {
    this.rng = new SeededRng(seed);
  }

  pattern(depth = 1 + this.rng.below(4)): string {
    const inner = (): string => this.pattern(depth - 1);
    if (depth === 0) return this.of(atoms);
    switch (this.rng.below(6)) {
      case 0:
      case 1:
        return inner() + inner();
      case 2:
        return `(${inner()}|${inner()})`;
      case 3:
        return `(?${this.of(flags)}:${inner()})`;
      default:
        return `(?:${inner()})${this.of(suffixes)}`;
    }
  }
  text(): string {
    const size = this.rng.below(this.rng.below(3) > 0 ? 8 : 60);
    return Array.from({ length: size }, () => this.of(characters)).join('');
  }
  private of<T>(values: readonly T[]): T {
    return values[this.rng.below(values.length)]!;
  }
}

const seed = Number(process.env['FUZZ_SEED'] ?? 1);
const patterns = Number(process.env['FUZZ_PATTERNS'] ?? 1000);

test(`searches of random patterns find what RE2 finds and count the same work each time, seed ${seed}`, () => {
  const random = new RandomPatterns(seed);
  for (let count = 0; count < patterns; count++) {
    const source = random.pattern();
    const engine = RE2JS.compile(source);
    const program = new Program(engine);
    const automaton = new Automaton(program);
    for (let round = 0; round < 6; round++) {
      const text = random.text();
      const matcher = engine.matcher(text);
      const expected = matcher.find() ? { start: matcher.start(), end: matcher.end() } : undefined;
      const unitsOf = (test: (spend: (units: number) => void) => boolean): [boolean, number] => {
        let units = 0;
        const isFound = test((more) => (units += more));
        return [isFound, units];
      };
      const found = findMatch(program, text, 0, () => undefined);
      const [byThreads, byNewAutomaton, byUsedAutomaton] = [
        unitsOf((spend) => hasMatch(program, text, spend)),
        unitsOf((spend) => new Automaton(program).test(text, spend)),
        unitsOf((spend) => automaton.test(text, spend)),
      ];
      const isFound = expected !== undefined;
      expect({ source, text, found, byThreads, byNewAutomaton, byUsedAutomaton }).toEqual({
        ...{ source, text, found: expected, byThreads: [isFound, byThreads[1]] },
        ...{ byNewAutomaton: byThreads, byUsedAutomaton: byThreads },
      });
    }
  }
});

describe('an automaton', () => {
  const rng = new SeededRng(1);
  /** A text in which the pattern reaches a new state with each character. */
  const random = Array.from({ length: 20_000 }, () => (rng.below(2) === 0 ? 'a' : 'b')).join('');
  const program = new Program(RE2JS.compile('[ab]*a[ab]{20}c'));
  const unitsOf = (automaton: Automaton, text: string): number => {
    let units = 0;
    expect(automaton.test(text, (more) => (units += more))).toBe(false);
    return units;
  };

  it('counts the work of threads when it cannot compute all states', () => {
    let units = 0;
    hasMatch(program, random, (more) => (units += more));
    const automaton = new Automaton(program);
    for (let round = 0; round < 3; round++) expect(unitsOf(automaton, random)).toBe(units);
    expect(units).toBeGreaterThan(20 * random.length);
  });

  it('counts the same after all automata have dropped their states, which had many classes of runes', () => {
    const everySecond = Array.from({ length: 60 }, (_, at) => `\\x{${(0x81 + 2 * at).toString(16)}}`);
    const ofAscii = Array.from({ length: 45 }, (_, at) => `\\x{${(0x01 + 2 * at).toString(16)}}`);
    const large = new Program(RE2JS.compile(`[ab]*a[ab]{20}c[${[...everySecond, ...ofAscii].join('')}]`));
    const automata = Array.from({ length: 25 }, () => new Automaton(large));
    const units = new Set<number>();
    for (let round = 0; round < 4; round++) {
      for (const automaton of automata) units.add(unitsOf(automaton, random.slice(0, 10_000)));
    }
    expect(units.size).toBe(1);
  });
});

test('a search ends when the function that counts its work throws', () => {
  const program = new Program(RE2JS.compile('(a+)+b'));
  const over = new Error('over');
  const text = 'a'.repeat(1_000_000);
  for (const search of [
    hasMatch,
    (...[, , spend]: Parameters<typeof hasMatch>) => findMatch(program, text, 0, spend),
  ]) {
    let units = 0;
    const spend = (more: number): void => {
      units += more;
      if (units > 100_000) throw over;
    };
    expect(() => search(program, text, spend)).toThrow(over);
    expect(units).toBeLessThan(120_000);
    expect(hasMatch(program, 'caab', () => undefined)).toBe(true);
  }
});

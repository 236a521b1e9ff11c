import type { Program } from './program.js';
import { conditionsBetween, noRune, runeAt, widthOf } from './program.js';
import { twoLists } from './threads.js';

/** Receives the work of a search, in units of about 7 ns; may throw to end the search. */
export type SpendWork = (units: number) => void;

export interface Match {
  readonly start: number;
  readonly end: number;
}

/** Units that are counted together. */
export const unitsAtOnce = 10_000;

/** The work of reading a rune: of the threads that read it, and of the instructions that are executed after it. */
export const unitsOf = (threads: number, executed: number): number => 2 + threads + executed;

/**
 * Returns the leftmost match from an index of a text on; among those, the one that Perl prefers. It runs all threads of
 * the program side by side, so that its work is bounded by characters × instructions.
 */
export function findMatch(program: Program, text: string, from: number, spend: SpendWork): Match | undefined {
  let [threads, following] = twoLists(program.size);
  let found: Match | undefined;
  let index = from;
  let rune = runeAt(text, index);
  let units = 0;
  if (from === 0 || !program.isAnchored) {
    const before = from === 0 ? noRune : text.charCodeAt(from - 1);
    units = program.follow(threads, program.start, from, conditionsBetween(before, rune));
  }
  for (;;) {
    if (threads.hasMatch) {
      // The threads after it are not preferred.
      threads.size = threads.pcs.findIndex((pc) => program.isMatch(pc));
      found = { start: threads.starts[threads.size]!, end: index };
    }
    const mayBegin = found === undefined && !program.isAnchored;
    if (rune === noRune || (threads.size === 0 && !mayBegin)) break;
    const nextIndex = index + widthOf(rune);
    const nextRune = runeAt(text, nextIndex);
    following.clear();
    const executed = program.read(threads, following, rune, nextRune, mayBegin ? nextIndex : undefined);
    units += unitsOf(threads.size, executed);
    [threads, following] = [following, threads];
    [index, rune] = [nextIndex, nextRune];
    if (units > unitsAtOnce) {
      spend(units);
      units = 0;
    }
  }
  spend(units);
  return found;
}

/** The position of a test: its threads, in the order of their instructions, before the rune at an index. */
export interface Standing {
  readonly index: number;
  readonly pcs: Int32Array;
}

/** True if a text has a match. */
export function hasMatch(program: Program, text: string, spend: SpendWork): boolean {
  return runTest(program, text, spend, undefined, () => false) === true;
}

/** Tests a text, or the rest of it; now and then asks whether to pause, and returns where it stands if so. */
export function runTest(
  program: Program,
  text: string,
  spend: SpendWork,
  begin: Standing | undefined,
  mayPause: () => boolean,
): boolean | Standing {
  let [threads, following] = twoLists(program.size);
  let units = 0;
  let index = begin?.index ?? 0;
  let rune = runeAt(text, index);
  if (begin) threads.load(begin.pcs);
  else units = unitsOf(0, program.follow(threads, program.start, 0, conditionsBetween(noRune, rune)));
  while (!threads.hasMatch && rune !== noRune && !(threads.size === 0 && program.isAnchored)) {
    if (units > unitsAtOnce) {
      spend(units);
      units = 0;
      if (mayPause()) return { index, pcs: threads.sorted() };
    }
    index += widthOf(rune);
    const nextRune = runeAt(text, index);
    following.clear();
    const executed = program.read(threads, following, rune, nextRune, program.isAnchored ? undefined : index);
    units += unitsOf(threads.size, executed);
    [threads, following] = [following, threads];
    rune = nextRune;
  }
  spend(units);
  return threads.hasMatch;
}

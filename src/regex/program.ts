import type { RE2JS } from 're2js';
import type { Threads } from './threads.js';
import { twoLists } from './threads.js';

/** Codes of the instructions in RE2's programs. */
const [alt, altMatch, capture, emptyWidth, fail, match, nop, runeOneOf, rune1, runeAny] = [
  1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
];

/** Bits of the argument of `emptyWidth`: what must be true between two characters. */
const [beginLine, endLine, beginText, endText, wordBoundary, noWordBoundary] = [1, 2, 4, 8, 16, 32];

/** An instruction as re2js declares it. */
interface Instruction {
  readonly op: number;
  readonly out: number;
  readonly arg: number;
  readonly runes: ArrayLike<number>;
  matchRune(rune: number): boolean;
}

/** Indices of `Program.kinds` for runes from 256 on, and for the end of a text. */
const [othersIndex, endIndex] = [256, 257];
/** Bits of what a rune means for the threads before it: a match may begin with it, and which conditions it makes true. */
const [mayBegin, isWordBit, isLineBreakBit, isEndBit] = [1, 2, 4, 8];
/** Programs that may begin with more instructions are taken to begin with every rune. */
const beginningsMax = 32;

/** The rune before a text and after it. */
export const noRune = -1;

/** The instructions that re2js compiles a pattern to. Searches execute them here, so that they can count their work. */
export class Program {
  readonly size: number;
  readonly start: number;
  /** True if matches begin at the begin of a text only. */
  readonly isAnchored: boolean;
  /** The kinds of runes, see `kindOf`, and the bits of each kind. */
  private readonly kinds: Uint8Array;
  private readonly kindBits: number[] = [];
  /** Conditions that its instructions have. */
  private readonly conditions: number = 0;

  private readonly instructions: readonly Instruction[];
  private readonly ops: Uint8Array;
  private readonly outs: Int32Array;
  private readonly args: Int32Array;

  constructor(private readonly engine: RE2JS) {
    const { inst, start } = engine.re2().prog as { inst: readonly Instruction[]; start: number };
    this.instructions = inst;
    this.size = inst.length;
    this.start = start;
    this.ops = new Uint8Array(this.size);
    this.outs = new Int32Array(this.size);
    this.args = new Int32Array(this.size);
    for (let pc = 0; pc < this.size; pc++) {
      const { op, out, arg } = inst[pc]!;
      this.ops[pc] = op;
      this.outs[pc] = out;
      this.args[pc] = arg;
      if (op === emptyWidth) this.conditions |= arg;
    }
    this.isAnchored = this.beginsAtText();
    this.kinds = this.bitsOfRunes();
    for (let index = 0; index <= endIndex; index++) {
      const kind = this.kindBits.indexOf(this.kinds[index]!);
      this.kinds[index] = kind < 0 ? this.kindBits.push(this.kinds[index]!) - 1 : kind;
    }
  }

  isMatch(pc: number): boolean {
    return this.ops[pc] === match;
  }

  /**
   * Adds the threads that come from reading a rune to `following`, and after them those that begin at `beginsAt`, unless
   * the next rune is in no match that begins there. Returns the number of instructions that were executed.
   */
  read(threads: Threads, following: Threads, rune: number, nextRune: number, beginsAt: number | undefined): number {
    const conditions = conditionsBetween(rune, nextRune);
    let executed = 0;
    for (let at = 0; at < threads.size; at++) {
      const pc = threads.pcs[at]!;
      if (this.accepts(pc, rune)) executed += this.follow(following, this.outs[pc]!, threads.starts[at]!, conditions);
    }
    if (beginsAt !== undefined && this.mayBeginWith(nextRune))
      executed += this.follow(following, this.start, beginsAt, conditions);
    return executed;
  }

  /** True if the instruction, which is not a match, accepts the rune. */
  private accepts(pc: number, rune: number): boolean {
    const op = this.ops[pc]!;
    if (op === rune1) return this.instructions[pc]!.runes[0] === rune;
    if (op === runeOneOf) return this.instructions[pc]!.matchRune(rune);
    return op === runeAny || rune !== 10;
  }

  /**
   * Adds the threads that come from an instruction without reading a character, in order of preference, except those
   * that the list has. Returns the number of instructions that were executed.
   */
  follow(threads: Threads, from: number, startsAt: number, conditions: number): number {
    const { ops, outs, args } = this;
    const { stack } = threads;
    let executed = 0;
    let depth = 0;
    let pc = from;
    for (;;) {
      while (pc !== 0 && threads.visit(pc)) {
        executed++;
        const op = ops[pc]!;
        if (op === alt || op === altMatch) {
          stack[depth++] = args[pc]!;
          pc = outs[pc]!;
        } else if (op === nop || op === capture) pc = outs[pc]!;
        else if (op === emptyWidth) pc = (args[pc]! & ~conditions) === 0 ? outs[pc]! : 0;
        else {
          if (op === match) threads.hasMatch = true;
          if (op !== fail) threads.add(pc, startsAt);
          pc = 0;
        }
      }
      if (depth === 0) return executed;
      pc = stack[--depth]!;
    }
  }

  /** Returns a number below `kindsCount`, equal for runes that mean the same for the threads before them. */
  kindOf(rune: number): number {
    return this.kinds[rune === noRune ? endIndex : Math.min(rune, othersIndex)]!;
  }
  get kindsCount(): number {
    return this.kindBits.length;
  }

  private mayBeginWith(rune: number): boolean {
    return (this.kindBits[this.kindOf(rune)]! & mayBegin) !== 0;
  }

  /** Returns the classes of runes between which no instruction makes a difference. */
  runeClasses(): RuneClasses {
    const { dfa } = this.engine.re2();
    return { latin1: dfa.latin1Class, classOf: (rune) => dfa.runeClass(rune) };
  }

  private bitsOfRunes(): Uint8Array {
    const { conditions } = this;
    const bits = this.beginnings();
    if ((conditions & (wordBoundary | noWordBoundary)) !== 0) {
      for (let rune = 0; rune < 128; rune++) if (isWord(rune)) bits[rune]! |= isWordBit;
    }
    if ((conditions & endLine) !== 0) bits[10]! |= isLineBreakBit;
    if ((conditions & (endText | endLine)) !== 0) bits[endIndex]! |= isEndBit;
    return bits;
  }

  /** Finds the runes with which a match may begin; the end of the text, if it may be empty. */
  private beginnings(): Uint8Array {
    const bits = new Uint8Array(endIndex + 1);
    const [threads] = twoLists(this.size);
    const allConditions = -1;
    this.follow(threads, this.start, 0, allConditions);
    if (threads.hasMatch || threads.size > beginningsMax) return bits.fill(mayBegin);
    bits[othersIndex] = mayBegin;
    for (const pc of threads.pcs.subarray(0, threads.size)) {
      if (this.ops[pc] === rune1) bits[Math.min(this.instructions[pc]!.runes[0]!, othersIndex)] = mayBegin;
      else for (let rune = 0; rune < othersIndex; rune++) if (this.accepts(pc, rune)) bits[rune] = mayBegin;
    }
    return bits;
  }

  private beginsAtText(): boolean {
    for (let pc = this.start; ; pc = this.outs[pc]!) {
      const op = this.ops[pc]!;
      if (op === emptyWidth && (this.args[pc]! & beginText) !== 0) return true;
      if (op !== emptyWidth && op !== capture && op !== nop) return false;
    }
  }
}

interface RuneClasses {
  /** Classes of the first 256 runes. */
  readonly latin1: Int32Array;
  readonly classOf: (rune: number) => number;
}

const isWord = (rune: number): boolean =>
  (rune >= 97 && rune <= 122) || (rune >= 65 && rune <= 90) || (rune >= 48 && rune <= 57) || rune === 95;

/** Returns the conditions that are true between two runes. */
export function conditionsBetween(before: number, after: number): number {
  let conditions = isWord(before) === isWord(after) ? noWordBoundary : wordBoundary;
  if (before === noRune) conditions |= beginText | beginLine;
  else if (before === 10) conditions |= beginLine;
  if (after === noRune) conditions |= endText | endLine;
  else if (after === 10) conditions |= endLine;
  return conditions;
}

/** Returns the rune at an index of a text as RE2 reads it: surrogates without their other half are runes. */
export function runeAt(text: string, index: number): number {
  return text.codePointAt(index) ?? noRune;
}

/** Returns the number of UTF-16 units of a rune. */
export const widthOf = (rune: number): number => (rune > 0xffff ? 2 : 1);

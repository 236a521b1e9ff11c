import type { Program } from './program.js';
import { conditionsBetween, noRune, runeAt, widthOf } from './program.js';
import type { SpendWork, Standing } from './search.js';
import { runTest, unitsAtOnce, unitsOf } from './search.js';
import { twoLists } from './threads.js';

/** Units of computing a transition, besides several times those of executing it. */
const [transitionUnits, transitionFactor] = [150, 2];
/** Units of transitions that an automaton may compute at first, for each unit of its searches, and at once. */
const [firstCredit, creditPart, creditMax] = [5000, 1 / 2, 50_000];

/** Limits on the numbers that one automaton holds, and all of them together: 32 MB. */
const [sizeMax, sizeOfAllMax] = [200_000, 4_000_000];
/** Numbers that an automaton without states holds, besides its program. */
const emptySize = 1000;
let sizeOfAll = 0;
const all = new Set<Automaton>();

/**
 * A deterministic automaton whose states are sets of threads. It tests a text up to ten times as fast as they do, but
 * counts the same work: its states are computed when a search reaches them and are kept for others, and what earlier
 * searches have left must not decide about the outcome of an evaluation.
 */
export class Automaton {
  private credit = firstCredit;
  /** Numbers that it holds, if it is one of `all`. */
  private size = 0;
  private states = new Map<string, State>();
  private root: State;
  private readonly classOf: (rune: number) => number;
  /** Classes of the first 256 runes, numbered from 0. */
  private readonly latin1: Int32Array;
  /** The number of transitions that a state has in an array: those by runes of `latin1`. */
  private readonly arrayed: number;

  constructor(private readonly program: Program) {
    const { latin1, classOf } = program.runeClasses();
    this.classOf = classOf;
    const numbers = new Map([...new Set(latin1)].map((each, number) => [each, number]));
    this.latin1 = latin1.map((each) => numbers.get(each)!);
    this.arrayed = numbers.size * program.kindsCount;
    this.root = this.newState(new Int32Array(), false);
  }

  /** True if the text has a match. */
  test(text: string, spend: SpendWork): boolean {
    const { arrayed } = this;
    let units = 0;
    const { root } = this;
    let state = root;
    let index = 0;
    let [before, rune] = [noRune, runeAt(text, 0)];
    // The root has transitions by the kind of the first rune only.
    let key = this.program.kindOf(rune);
    for (;;) {
      let transition = key < arrayed ? state.transitions[key] : state.others.get(key);
      if (!transition) {
        transition = this.compute(state, key, before, rune);
        if (!transition) {
          this.spend(units, spend);
          units = 0;
          const from = state === root ? undefined : { index: index - widthOf(before), pcs: state.pcs };
          const standing = this.runThreads(text, from, spend);
          if (typeof standing === 'boolean') return standing;
          state = this.stateOf(standing.pcs, false);
          before = runeAt(text, standing.index);
          index = standing.index + widthOf(before);
          rune = runeAt(text, index);
          key = this.keyOf(before, rune);
          continue;
        }
      }
      units += transition.units;
      state = transition.to;
      if (state.isMatch || state.isDead || rune === noRune) break;
      if (units > unitsAtOnce) {
        this.spend(units, spend);
        units = 0;
      }
      before = rune;
      index += widthOf(rune);
      rune = runeAt(text, index);
      key = this.keyOf(before, rune);
    }
    this.spend(units, spend);
    return state.isMatch;
  }

  /** Goes on in threads until the test is over, or until the credit allows to compute states again. */
  private runThreads(text: string, from: Standing | undefined, spend: SpendWork): boolean | Standing {
    const spendUnits: SpendWork = (units) => this.spend(units, spend);
    return runTest(this.program, text, spendUnits, from, () => this.credit > firstCredit);
  }

  /** Returns the key of the transition of reading the rune `before` where `after` follows it. */
  private keyOf(before: number, after: number): number {
    const { kindsCount } = this.program;
    const ofClass = before < 256 ? this.latin1[before]! * kindsCount : this.arrayed + this.classOf(before) * kindsCount;
    return ofClass + this.program.kindOf(after);
  }

  private spend(units: number, spend: SpendWork): void {
    this.credit = Math.min(creditMax, this.credit + units * creditPart);
    spend(units);
  }

  /** Computes the transition of reading the rune `before` where `after` follows it; undefined if the credit is spent. */
  private compute(state: State, key: number, before: number, after: number): Transition | undefined {
    if (this.credit < 0) return undefined;
    if (this.size > sizeMax) this.clear();
    const { program } = this;
    const [threads, following] = twoLists(program.size);
    threads.load(state.pcs);
    let executed: number;
    if (before === noRune) executed = program.follow(following, program.start, 0, conditionsBetween(before, after));
    else executed = program.read(threads, following, before, after, program.isAnchored ? undefined : 0);
    const units = unitsOf(state.pcs.length, executed);
    this.credit -= transitionUnits + transitionFactor * units;
    const transition = { to: this.stateOf(following.sorted(), following.hasMatch), units };
    if (key < this.arrayed) state.transitions[key] = transition;
    else state.others.set(key, transition);
    this.grow(4);
    return transition;
  }

  private stateOf(pcs: Int32Array, isMatch: boolean): State {
    const name = pcs.join();
    let state = this.states.get(name);
    if (state) return state;
    state = this.newState(pcs, isMatch);
    this.states.set(name, state);
    this.grow(10 + state.transitions.length + 2 * pcs.length);
    return state;
  }

  private newState(pcs: Int32Array, isMatch: boolean): State {
    const isDead = pcs.length === 0 && this.program.isAnchored;
    const transitions = new Array<Transition | undefined>(this.arrayed).fill(undefined);
    return { pcs, isMatch, isDead, transitions, others: new Map() };
  }

  private grow(by: number): void {
    const size = all.has(this) ? by : by + emptySize + 10 * this.program.size;
    all.add(this);
    this.size += size;
    sizeOfAll += size;
    if (sizeOfAll > sizeOfAllMax) for (const automaton of all) automaton.clear();
  }

  /** Drops all states; a running search goes on in those that it has. */
  private clear(): void {
    sizeOfAll -= this.size;
    this.size = 0;
    all.delete(this);
    this.states = new Map();
    this.root = this.newState(new Int32Array(), false);
  }
}

interface State {
  /** Instructions that read a rune, and matches. */
  readonly pcs: Int32Array;
  readonly isMatch: boolean;
  /** True if no text that follows matches. */
  readonly isDead: boolean;
  /** Transitions by the class of the next rune and by the kind of the one after it. */
  readonly transitions: (Transition | undefined)[];
  readonly others: Map<number, Transition>;
}

interface Transition {
  readonly to: State;
  readonly units: number;
}

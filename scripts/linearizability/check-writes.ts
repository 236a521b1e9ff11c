import { deepEqual } from '../../src/machinery/deep-equal.js';
import type { Change, ReadCall, Run, Span, WatchView, WriteCall } from './record.js';
import { RealTime, Timeline, type Effect, type Window } from './timeline.js';
import { effectOf, type Content, type Version } from './write-model.js';

/**
 * Whether a run can be told as one sequence of writes: each that was acknowledged in it once, each that was refused not
 * at all, each of unknown outcome once at most; every one made what it was to make of the state before it; and none
 * comes before another that had been answered when it began. What was read, refused, watched and left fits in.
 */
export function violationsOf(run: Run): string[] {
  return new Check(run).run();
}

class Check {
  private readonly found: string[] = [];
  private readonly timeline: Timeline;
  private readonly effects: (Effect & { readonly call: WriteCall | ReadCall })[] = [];
  private readonly byMark: ReadonlyMap<string, WriteCall>;
  /** Which call made a change, as far as it is known. */
  private readonly makers = new Map<Change, WriteCall>();
  private readonly used = new Set<WriteCall>();

  constructor(private readonly of: Run) {
    this.timeline = new Timeline(of.log);
    this.byMark = new Map(of.writes.map((call) => [call.mark, call]));
  }

  run(): string[] {
    const { writes, reads, watches, log } = this.of;
    for (const call of writes) this.acknowledged(call);
    const unnamed = log.filter((change) => !this.makers.has(change) && !this.isNamed(change));
    for (const call of reads) {
      if (call.version) this.effects.push({ span: call, revision: call.version.revision, isWrite: false, call });
    }
    const time = new RealTime(this.effects);
    this.uids();
    this.unnamed(unnamed, time);
    for (const { isWrite, revision, span, call } of this.effects) {
      if (isWrite) this.order(call as WriteCall, revision, time.windowOf(span));
    }
    for (const call of writes) this.answer(call, time.windowOf(call));
    for (const read of reads) this.read(read, read.version, time.windowOf(read));
    for (const view of watches) this.watch(view);
    this.final();
    return this.found;
  }

  private acknowledged(call: WriteCall): void {
    const { key, outcome } = call;
    const changes = this.timeline.changesOf(key);
    if (outcome.type === 'deleted') {
      const change = changes.find(({ before, after }) => !after && before?.uid === outcome.uid);
      if (!change) return this.report(call, `was acknowledged, but ${outcome.uid} was never removed`);
      return this.made(call, change, call);
    }
    if (outcome.type !== 'object') return;
    const { revision, isDeleting } = outcome.version;
    if (call.intent.verb === 'delete') {
      // The mark is there, by this call or by one before it.
      return void this.effects.push({ span: call, revision, isWrite: false, call });
    }
    const change = this.timeline.changeAt(key, revision);
    if (change?.after?.data['mark'] === call.mark) return this.made(call, change, call);
    // Whoever takes the last finalizer away is shown the object as it went.
    const end = isDeleting && changes.find(({ before, after }) => !after && before?.revision === revision);
    if (!end) return this.report(call, `was acknowledged as ${revision}, and is not there`);
    this.made(call, end, call);
  }

  private made(call: WriteCall, change: Change, span: Span): void {
    const { revision, before, after } = change;
    const other = this.makers.get(change);
    if (other) return this.report(call, `and ${nameOf(other)} both were told of ${revision}`);
    if (this.used.has(call)) return this.report(call, `was made again, as ${revision}`);
    this.makers.set(change, call);
    this.used.add(call);
    this.effects.push({ span, revision, isWrite: true, call });
    if (!isExpected(call, before))
      this.report(call, `was to change ${JSON.stringify(call.expects)}, and ${revision} changed ${shown(before)}`);
    const due = effectOf(call.intent, before);
    if (due === 'refused') return this.report(call, `was to be refused, and made ${revision}`);
    if (!isResult(due, after)) this.report(call, `made ${shown(after)} of ${shown(before)}`);
  }

  /** Whether the change says by its mark who made it; then that call is held to it. */
  private isNamed(change: Change): boolean {
    const { key, revision, before, after } = change;
    const mark = after?.data['mark'];
    if (!after || mark === before?.data['mark']) return false;
    const call = this.byMark.get(mark ?? '');
    if (call?.key !== key) this.found.push(`${key}@${revision}: nobody wrote this`);
    else if (call.outcome.type !== 'unknown') this.report(call, `made ${revision}, but ${told(call)}`);
    // It can have been made long after its client gave up.
    else this.made(call, change, { began: call.began, ended: Infinity });
    return true;
  }

  /** Deletions bear no mark: the answers tell of some, and calls that were not answered explain the others. */
  private unnamed(changes: readonly Change[], time: RealTime): void {
    const answered = new Set<string>();
    const doubtful = new Map<string, WriteCall[]>();
    for (const call of this.of.writes) {
      const { key, intent, outcome } = call;
      if (intent.verb === 'delete' && outcome.type === 'object') answered.add(`${key}@${outcome.version.revision}`);
      if (outcome.type === 'unknown') doubtful.set(key, [...(doubtful.get(key) ?? []), call]);
    }
    // Those that ask for one version explain nothing else.
    const isBare = ({ expects }: WriteCall) =>
      Number(expects.revision === undefined) + Number(expects.uid === undefined);
    for (const calls of doubtful.values()) calls.sort((a, b) => isBare(a) - isBare(b));
    for (const { key, revision, before, after } of changes) {
      if (after && answered.has(`${key}@${revision}`)) continue;
      const call = doubtful.get(key)?.find((one) => {
        if (this.used.has(one) || !isExpected(one, before) || time.windowOf(one).from >= revision) return false;
        return isResult(effectOf(one.intent, before), after);
      });
      if (call) this.used.add(call);
      else this.found.push(`${key}@${revision}: nobody asked for this ${after ? 'mark' : 'deletion'}`);
    }
  }

  private uids(): void {
    const uids = new Set<string>();
    for (const { key, revision, before, after } of this.of.log) {
      if (!after || after.uid === before?.uid) continue;
      if (before) this.found.push(`${key}@${revision}: another uid than ${before.uid}`);
      if (uids.has(after.uid)) this.found.push(`${key}@${revision}: uid ${after.uid} came twice`);
      uids.add(after.uid);
    }
  }

  private order(call: WriteCall, revision: number, { from, before }: Window): void {
    if (revision <= from) this.report(call, `is ${revision}, but ${from} had been answered when it began`);
    if (revision >= before) this.report(call, `is ${revision}, but ${before} had not begun when it ended`);
  }

  private answer(call: WriteCall, window: Window): void {
    const { intent, outcome } = call;
    if (outcome.type === 'refused') this.refusal(call, outcome.reason, window);
    if (outcome.type === 'object' && intent.verb === 'delete') {
      if (!outcome.version.isDeleting) this.report(call, `was answered with ${shown(outcome.version)}`);
      this.read(call, outcome.version, window);
    }
  }

  private refusal(call: WriteCall, reason: string, window: Window): void {
    const states = this.timeline.statesWithin(call.key, window);
    const reasons: Record<string, () => boolean> = {
      AlreadyExists: () => call.intent.verb === 'create' && states.some((state) => state !== undefined),
      NotFound: () => call.intent.verb !== 'create' && states.some((state) => state === undefined),
      // The server gives up where others are faster again and again.
      Conflict: () => states.some((state) => !isExpected(call, state)) || states.length > 1,
      Invalid: () => states.some((state) => effectOf(call.intent, state) === 'refused'),
      TooManyRequests: () => true,
    };
    if (reasons[reason]?.() !== true)
      this.report(call, `was refused with ${reason} between ${window.from} and ${window.before}`);
  }

  private read(call: WriteCall | ReadCall, version: Version | undefined, window: Window): void {
    const states = this.timeline.statesWithin(call.key, window);
    const isIt = (state: Version | undefined) =>
      state?.revision === version?.revision && state?.uid === version?.uid && (!state || isSame(state, version!));
    if (!states.some(isIt))
      this.found.push(`${call.key} between ${window.from} and ${window.before} was shown as ${shown(version)}`);
  }

  private watch({ after, until, events }: WatchView): void {
    const due = this.of.log.filter(({ revision }) => revision > after && revision <= until);
    for (const [at, change] of due.entries()) {
      const event = events[at];
      const type = !change.before ? 'ADDED' : change.after ? 'MODIFIED' : 'DELETED';
      const isTold =
        event?.type === type &&
        event.key === change.key &&
        event.version.revision === change.revision &&
        isSame(event.version, (change.after ?? change.before)!);
      if (isTold) continue;
      this.found.push(`a watch was to tell ${type} ${change.key}@${change.revision}, not ${JSON.stringify(event)}`);
      return;
    }
    if (events.length > due.length) this.found.push(`a watch told too much: ${JSON.stringify(events[due.length])}`);
  }

  private final(): void {
    const { revision, versions } = this.of.final;
    for (const key of new Set([...this.timeline.keys(), ...versions.keys()])) {
      const [state, version] = [this.timeline.stateAt(key, revision), versions.get(key)];
      if (state?.revision === version?.revision && (!state || isSame(state, version!))) continue;
      this.found.push(`in the end ${key} is shown as ${shown(version)}, and is ${shown(state)}`);
    }
  }

  private report(call: WriteCall, message: string): void {
    this.found.push(`${nameOf(call)} ${message}`);
  }
}

const nameOf = ({ mark, key, intent }: WriteCall) => `${intent.verb} ${key} (${mark})`;
const told = ({ outcome }: WriteCall) =>
  outcome.type === 'refused' ? `was refused (${outcome.reason})` : outcome.type;
const shown = (version: Version | undefined) => JSON.stringify(version) ?? 'absent';

function isExpected({ expects: { revision, uid } }: WriteCall, before: Version | undefined): boolean {
  return (revision === undefined || before?.revision === revision) && (uid === undefined || before?.uid === uid);
}

function isResult(due: ReturnType<typeof effectOf>, after: Version | undefined): boolean {
  if (due === 'refused') return false;
  return due === 'gone' ? !after : after !== undefined && isSame(due, after);
}

function isSame(a: Content, b: Content): boolean {
  return deepEqual(a.data, b.data) && deepEqual(a.finalizers, b.finalizers) && a.isDeleting === b.isDeleting;
}

import { deepEqual } from '../../src/machinery/deep-equal.js';
import type { Change, ReadCall, Run, Span, WatchView, WriteCall } from './record.js';
import { RealTime, Timeline, type Effect, type Window } from './timeline.js';
import { effectOf, type Content, type Version } from './write-model.js';

/**
 * Returns the reasons why a run is not linearizable. In a linearizable run there is one sequence of writes in which
 * each acknowledged write occurs once, each refused one never, and each of unknown outcome at most once; every write
 * has its effect on the state before it; and no write precedes another that was answered before it began. Reads,
 * refusals, watches and the final state agree with the sequence.
 */
export function violationsOf(run: Run): string[] {
  return new Check(run).run();
}

class Check {
  private readonly found: string[] = [];
  private readonly timeline: Timeline;
  private readonly effects: (Effect & { readonly call: WriteCall | ReadCall })[] = [];
  private readonly byMark: ReadonlyMap<string, WriteCall>;
  /** The call of each change, as far as it is known. */
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
      if (!change) return this.report(call, `was acknowledged, but the object with uid ${outcome.uid} was not deleted`);
      return this.recordEffect(call, change, call);
    }
    if (outcome.type !== 'object') return;
    const { revision, isDeleting } = outcome.version;
    if (call.intent.verb === 'delete') {
      // The mark was written by this call or an earlier one.
      return void this.effects.push({ span: call, revision, isWrite: false, call });
    }
    const change = this.timeline.changeAt(key, revision);
    if (change?.after?.data['mark'] === call.mark) return this.recordEffect(call, change, call);
    // The write that removes the last finalizer is answered with the object before its deletion.
    const end = isDeleting && changes.find(({ before, after }) => !after && before?.revision === revision);
    if (!end) return this.report(call, `was acknowledged with revision ${revision}, which is not in the store's log`);
    this.recordEffect(call, end, call);
  }

  private recordEffect(call: WriteCall, change: Change, span: Span): void {
    const { revision, before, after } = change;
    const other = this.makers.get(change);
    if (other) return this.report(call, `and ${nameOf(other)} were both acknowledged with revision ${revision}`);
    if (this.used.has(call)) return this.report(call, `took effect again at revision ${revision}`);
    this.makers.set(change, call);
    this.used.add(call);
    this.effects.push({ span, revision, isWrite: true, call });
    if (!isExpected(call, before))
      this.report(
        call,
        `has the precondition ${JSON.stringify(call.expects)}, but revision ${revision} changed ${shown(before)}`,
      );
    const due = effectOf(call.intent, before);
    if (due === 'refused') return this.report(call, `should have been refused, but wrote revision ${revision}`);
    if (!isResult(due, after)) this.report(call, `wrote ${shown(after)} over ${shown(before)}`);
  }

  /** True if the change has a mark that names its call, whose answer must then agree with it. */
  private isNamed(change: Change): boolean {
    const { key, revision, before, after } = change;
    const mark = after?.data['mark'];
    if (!after || mark === before?.data['mark']) return false;
    const call = this.byMark.get(mark ?? '');
    if (call?.key !== key) this.found.push(`${key}@${revision}: written by no client`);
    else if (call.outcome.type !== 'unknown')
      this.report(call, `wrote revision ${revision}, but ${describeOutcome(call)}`);
    // It may have taken effect long after its client gave up.
    else this.recordEffect(call, change, { began: call.began, ended: Infinity });
    return true;
  }

  /** Deletions have no mark: answers identify some, and calls without an answer explain the others. */
  private unnamed(changes: readonly Change[], time: RealTime): void {
    const answered = new Set<string>();
    const doubtful = new Map<string, WriteCall[]>();
    for (const call of this.of.writes) {
      const { key, intent, outcome } = call;
      if (intent.verb === 'delete' && outcome.type === 'object') answered.add(`${key}@${outcome.version.revision}`);
      if (outcome.type === 'unknown') doubtful.set(key, [...(doubtful.get(key) ?? []), call]);
    }
    // A deletion with a precondition explains only the version that it names.
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
      else this.found.push(`${key}@${revision}: no client requested this ${after ? 'deletionTimestamp' : 'deletion'}`);
    }
  }

  private uids(): void {
    const uids = new Set<string>();
    for (const { key, revision, before, after } of this.of.log) {
      if (!after || after.uid === before?.uid) continue;
      if (before) this.found.push(`${key}@${revision}: uid changed from ${before.uid}`);
      if (uids.has(after.uid)) this.found.push(`${key}@${revision}: uid ${after.uid} was used twice`);
      uids.add(after.uid);
    }
  }

  private order(call: WriteCall, revision: number, { from, before }: Window): void {
    if (revision <= from)
      this.report(call, `has revision ${revision}, but revision ${from} was answered before it began`);
    if (revision >= before) this.report(call, `has revision ${revision}, but revision ${before} began after it ended`);
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
      // The server gives up after too many concurrent writes.
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
      this.found.push(`${call.key} between ${window.from} and ${window.before} was answered with ${shown(version)}`);
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
      this.found.push(`a watch sent ${JSON.stringify(event)} instead of ${type} ${change.key}@${change.revision}`);
      return;
    }
    if (events.length > due.length)
      this.found.push(`a watch sent an extra event: ${JSON.stringify(events[due.length])}`);
  }

  private final(): void {
    const { revision, versions } = this.of.final;
    for (const key of new Set([...this.timeline.keys(), ...versions.keys()])) {
      const [state, version] = [this.timeline.stateAt(key, revision), versions.get(key)];
      if (state?.revision === version?.revision && (!state || isSame(state, version!))) continue;
      this.found.push(`at the end ${key} is answered with ${shown(version)}, but the store has ${shown(state)}`);
    }
  }

  private report(call: WriteCall, message: string): void {
    this.found.push(`${nameOf(call)} ${message}`);
  }
}

const nameOf = ({ mark, key, intent }: WriteCall) => `${intent.verb} ${key} (${mark})`;
const describeOutcome = ({ outcome }: WriteCall) =>
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

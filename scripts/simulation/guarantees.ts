import { deepEqual } from '../../src/machinery/deep-equal.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import type { Change, History, State } from './history.js';
import type { GetSeen, Ledger, ListSeen, WatchSeen, WriteSeen } from './ledger.js';
import type { Selection } from './selection.js';

/**
 * The guarantees of a server, by name. They are checked against the history of the store, since clients alone cannot
 * tell which observation is wrong.
 */
export const guarantees = {
  ordered: 'a watch sends changes in the order of their revisions',
  unique: 'a watch sends no change twice',
  reliable: 'a watch sends every change that it selects',
  faithful: 'an object is answered as it was stored, with its resourceVersion',
  filtered: 'a watch sends objects that its selector matches, as ADDED, MODIFIED and DELETED of the selection',
  resumable: 'a watch from a received version continues with exactly the later changes',
  bookmarkable: 'a bookmark comes after all changes up to its version',
  'consistent-list': 'a list is the state at one revision, and so are all its pages',
  'read-your-write': 'a read reflects every write that was acknowledged before it',
  'no-lost-acknowledged-write': 'an acknowledged write is in the history, as it was acknowledged',
  'no-lost-update': 'a write with a resourceVersion replaces that version',
  'refused-is-not-made': 'a refused write or dry run has no effect',
  'cache-is-store': 'the cache equals the store',
  'no-surprise': 'no request fails without a fault',
} as const;

export type Guarantee = keyof typeof guarantees;

export interface Violation {
  readonly guarantee: Guarantee;
  readonly message: string;
}

type Report = (guarantee: Guarantee, message: string) => void;

export function violationsOf(history: History, ledger: Ledger): Violation[] {
  const found: Violation[] = [];
  const reporter =
    (who: string): Report =>
    (guarantee, message) =>
      found.push({ guarantee, message: `${who}: ${message}` });
  for (const write of ledger.writes) checkWrite(history, write, reporter(`${write.who} ${write.verb} ${write.key}`));
  for (const get of ledger.gets) checkGet(history, get, reporter(`${get.who} get ${get.key}`));
  for (const list of ledger.lists) checkList(history, list, reporter(`${list.who} list ${asText(list.selection)}`));
  for (const watch of ledger.watches)
    new WatchCheck(history, watch, reporter(`${watch.who} watch ${asText(watch.selection)}`)).run();
  for (const surprise of ledger.surprises) found.push({ guarantee: 'no-surprise', message: surprise });
  return found;
}

const asText = ({ resource, namespace, query }: Selection) =>
  `${resource} in ${namespace || 'all namespaces'} ${new URLSearchParams(query).toString()}`;

/** Describes the first difference of two objects. */
function difference(shown: unknown, stored: unknown, path = ''): string {
  const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
  if (!isObject(shown) || !isObject(stored))
    return `${path} is ${JSON.stringify(shown)}, not ${JSON.stringify(stored)}`;
  const fields = new Set([...Object.keys(shown), ...Object.keys(stored)]);
  const differing = [...fields].filter((field) => !deepEqual(shown[field], stored[field]));
  return differing.map((field) => difference(shown[field], stored[field], `${path}.${field}`)).join('; ');
}

/** Compares objects; items of lists have no kind and apiVersion. */
function isSame(shown: KubeObject, stored: KubeObject): boolean {
  return deepEqual({ ...shown, kind: stored.kind, apiVersion: stored.apiVersion }, stored);
}

function checkWrite(history: History, write: WriteSeen, report: Report): void {
  const { outcome, key, mark, replaces, verb } = write;
  if (outcome.type === 'refused' || write.isDryRun) {
    if (mark !== undefined && history.marks.has(mark)) {
      const said = outcome.type === 'refused' ? outcome.why : 'a dry run';
      report('refused-is-not-made', `${mark} took effect, but was answered with: ${said}`);
    }
    return;
  }
  if (outcome.type === 'unknown') return;
  if (verb === 'delete') return checkDeletion(history, write, outcome.object, report);
  const { object } = outcome;
  const revision = Number(object.metadata.resourceVersion);
  // The write that removes the last finalizer completes the deletion, and is answered with the object before it.
  const completed = (change: Change) => !change.after && change.before?.revision === revision;
  if (object.metadata.deletionTimestamp && history.changesOf(key).some(completed)) return;
  const change = history.changeAt(key, revision);
  if (!change?.after) return report('no-lost-acknowledged-write', `revision ${revision} is not in the history`);
  if (!isSame(object, change.after.object))
    report(
      'no-lost-acknowledged-write',
      `${revision} is not what was acknowledged: ${difference(object, change.after.object)}`,
    );
  if (replaces !== undefined && change.before?.revision !== replaces)
    report(
      'no-lost-update',
      `revision ${revision} has the resourceVersion ${replaces}, but replaced ${change.before?.revision}`,
    );
}

/** Checks the answer to a deletion: the deleted (or marked) object, or a Status with its uid. */
function checkDeletion(history: History, { key, replaces }: WriteSeen, answer: KubeObject, report: Report): void {
  const details = answer['details'] as { uid?: string } | undefined;
  const uid = answer.kind === 'Status' ? details?.uid : answer.metadata.uid;
  const revision = answer.kind === 'Status' ? undefined : Number(answer.metadata.resourceVersion);
  // A deletion that marks and removes an object is answered with the mark; one that only removes it, with the state
  // that others marked.
  const isShown = ({ revision: at, before, after }: Change) =>
    revision === undefined ? !after : at === revision || (!after && before?.revision === revision);
  const deletions = history
    .changesOf(key)
    .filter((change) => change.before?.object.metadata.uid === uid && isShown(change));
  if (deletions.length === 0) return report('no-lost-acknowledged-write', `the object with uid ${uid} was not deleted`);
  const replaced = deletions.map(({ before }) => before!.revision);
  if (replaces !== undefined && !replaced.includes(replaces))
    report('no-lost-update', `the deletion of revision ${replaces} deleted ${replaced.join(' or ')}`);
}

function checkGet(history: History, { key, atLeast, object }: GetSeen, report: Report): void {
  const changes = history.changesOf(key);
  const isLater = (change: Change | undefined) => change === undefined || change.revision > atLeast;
  if (!object) {
    // Absent from its deletion (or the beginning) to the next change.
    const wasAbsent = isLater(changes[0]) || changes.some((change, i) => !change.after && isLater(changes[i + 1]));
    if (!wasAbsent) report('read-your-write', `the object exists since before revision ${atLeast}, but was not found`);
    return;
  }
  const revision = Number(object.metadata.resourceVersion);
  const at = changes.findIndex((change) => change.revision === revision);
  if (!changes[at]?.after || !isSame(object, changes[at].after.object))
    return report('faithful', `the answer with resourceVersion ${revision} differs from the stored object`);
  if (!isLater(changes[at + 1]))
    report(
      'read-your-write',
      `answered with revision ${revision}, but ${changes[at + 1]!.revision} was acknowledged before (${atLeast})`,
    );
}

function checkList(history: History, { selection, atLeast, exactly, pages }: ListSeen, report: Report): void {
  const first = pages[0]!;
  if (first.revision < atLeast)
    report('read-your-write', `the list has revision ${first.revision}, older than ${atLeast}`);
  if (exactly !== undefined && first.revision !== exactly)
    report('consistent-list', `the list has revision ${first.revision}, not exactly ${exactly}`);
  const want = history.statesAt(first.revision, selection.selects);
  let taken = 0;
  for (const [index, { revision, items, remaining, isLast }] of pages.entries()) {
    if (revision !== first.revision)
      report('consistent-list', `page ${index} has revision ${revision}, the first page ${first.revision}`);
    for (const item of items) {
      const [key, state] = want[taken++] ?? [];
      if (!state || !isSame(item, state.object)) {
        const { name, resourceVersion } = item.metadata;
        return report(
          'consistent-list',
          `page ${index} of ${revision} shows ${name}@${resourceVersion}, not ${key}@${state?.revision}`,
        );
      }
    }
    if (remaining !== undefined && remaining !== want.length - taken)
      report(
        'consistent-list',
        `page ${index} of revision ${revision} has remainingItemCount ${remaining}, not ${want.length - taken}`,
      );
    if (isLast && taken < want.length)
      report('consistent-list', `the list of revision ${revision} ends before ${want[taken]![0]}`);
  }
}

/** Checks the events of one connection. */
class WatchCheck {
  /** All selected changes up to here were received. Undefined during the initial state. */
  private position: number | undefined;
  private readonly seen = new Set<string>();
  private readonly initial = new Map<string, KubeObject>();
  private hasSeenChange = false;

  constructor(
    private readonly history: History,
    private readonly watch: WatchSeen,
    private readonly report: Report,
  ) {
    this.position = watch.start.type === 'after' ? watch.start.revision : undefined;
  }

  run(): void {
    for (const step of this.watch.steps) {
      if (step.type === 'bookmark') this.bookmark(step.revision, step.endsInitial);
      else if (this.position === undefined) this.initialObject(step.change, step.key, step.object);
      else this.change(step.change, step.key, step.object);
    }
    if (this.watch.end !== 'open') return;
    if (this.position === undefined) return this.report('reliable', 'the initial state did not end');
    const missing = this.firstMissing(this.position, this.history.head);
    if (missing) this.report('reliable', `${describe(missing)} was not sent`);
  }

  private initialObject(change: string, key: string, object: KubeObject): void {
    if (change !== 'ADDED') this.report('filtered', `the initial state contains ${change} ${key}`);
    if (this.initial.has(key)) this.report('unique', `the initial state contains ${key} twice`);
    this.initial.set(key, object);
  }

  private bookmark(revision: number, endsInitial: boolean): void {
    if (this.position === undefined) {
      if (endsInitial) this.endInitial(revision);
      else this.report('bookmarkable', `${revision} came before the end of the initial state`);
      return;
    }
    if (revision < this.position) return this.report('bookmarkable', `${revision} came after ${this.position}`);
    const missing = this.firstMissing(this.position, revision);
    if (missing) this.report('bookmarkable', `${revision} came before ${describe(missing)}`);
    this.position = revision;
  }

  private endInitial(revision: number): void {
    const { start, selection } = this.watch;
    if (start.type === 'initial' && revision < start.atLeast)
      this.report('read-your-write', `the initial state has revision ${revision}, older than ${start.atLeast}`);
    const want = new Map<string, State>(this.history.statesAt(revision, selection.selects));
    for (const [key, { object }] of want) {
      const shown = this.initial.get(key);
      if (!shown) this.report('reliable', `the initial state of ${revision} lacks ${key}`);
      else if (!isSame(shown, object))
        this.report('faithful', `${key} in the initial state of ${revision} differs from the stored object`);
    }
    for (const key of this.initial.keys())
      if (!want.has(key))
        this.report('filtered', `the initial state of ${revision} contains ${key}, which is not selected`);
    this.position = revision;
  }

  private change(type: string, key: string, object: KubeObject): void {
    const { start, selection } = this.watch;
    const revision = Number(object.metadata.resourceVersion);
    const position = this.position!;
    const isFirst = !this.hasSeenChange;
    this.hasSeenChange = true;
    if (revision <= position) {
      const text = `${type} ${key}@${revision} came at ${position}`;
      if (this.seen.has(`${key}@${revision}`)) return this.report('unique', text);
      const isBeforeStart = start.type === 'after' && revision <= start.revision;
      return this.report(isBeforeStart ? 'resumable' : 'ordered', text);
    }
    const missing = this.firstMissing(position, revision - 1);
    if (missing) {
      const isResumed = isFirst && start.type === 'after' && start.isResumed;
      this.report(isResumed ? 'resumable' : 'reliable', `${describe(missing)} was not sent before ${key}@${revision}`);
    }
    this.position = revision;
    this.seen.add(`${key}@${revision}`);
    const stored = this.history.changeAt(key, revision);
    if (!stored) return this.report('faithful', `${type} ${key}@${revision} is not in the store's log`);
    const due = typeOf(stored, selection);
    if (due !== type)
      return this.report('filtered', `${key}@${revision} was sent as ${type} instead of ${due ?? 'nothing'}`);
    const shown = type === 'DELETED' ? at(stored.before!.object, revision) : stored.after!.object;
    if (!isSame(object, shown)) this.report('faithful', `${type} ${key}@${revision} differs from the stored object`);
  }

  private firstMissing(after: number, until: number): Change | undefined {
    for (const change of this.history.between(after, until)) if (typeOf(change, this.watch.selection)) return change;
    return undefined;
  }
}

function typeOf({ key, before, after }: Change, { selects }: Selection): string | undefined {
  const did = before !== undefined && selects(key, before.object);
  const does = after !== undefined && selects(key, after.object);
  if (does) return did ? 'MODIFIED' : 'ADDED';
  return did ? 'DELETED' : undefined;
}

const at = (object: KubeObject, revision: number): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion: String(revision) },
});

const describe = ({ key, revision }: Change) => `${key}@${revision}`;

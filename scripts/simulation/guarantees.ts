import { deepEqual } from '../../src/machinery/deep-equal.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import type { Change, History, State } from './history.js';
import type { GetSeen, Ledger, ListSeen, WatchSeen, WriteSeen } from './ledger.js';
import type { Selection } from './selection.js';

/**
 * What a server promises, each by its name. They are checked against what the store itself says has happened:
 * that a client saw something strange is never enough to tell who is wrong.
 */
export const guarantees = {
  ordered: 'a watch tells changes in the order of their revisions',
  unique: 'a watch tells no change twice',
  reliable: 'a watch tells every change that it asked for',
  faithful: 'what is shown is what was stored, under its version',
  filtered: 'a watch tells what its selector selects, as ADDED, MODIFIED and DELETED of what is selected',
  resumable: 'a watch from any version that was told goes on with just what came after it',
  bookmarkable: 'a bookmark comes after everything up to its version',
  'consistent-list': 'a list is the state at one revision, and so are all its pages',
  'read-your-write': 'a read reflects every write that was acknowledged before it',
  'no-lost-acknowledged-write': 'a write that was acknowledged is in the history, as it was acknowledged',
  'no-lost-update': 'a write that names the version it replaces replaces that one',
  'refused-is-not-made': 'a write that was refused, or made dry, was not made',
  'cache-is-store': 'the cache holds what the store holds',
  'no-surprise': 'nothing fails without a fault',
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

/** Where two objects differ, for reports. */
function difference(shown: unknown, stored: unknown, path = ''): string {
  const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
  if (!isObject(shown) || !isObject(stored))
    return `${path} is ${JSON.stringify(shown)}, not ${JSON.stringify(stored)}`;
  const fields = new Set([...Object.keys(shown), ...Object.keys(stored)]);
  const differing = [...fields].filter((field) => !deepEqual(shown[field], stored[field]));
  return differing.map((field) => difference(shown[field], stored[field], `${path}.${field}`)).join('; ');
}

/** Items of lists leave out their type. */
function isSame(shown: KubeObject, stored: KubeObject): boolean {
  return deepEqual({ ...shown, kind: stored.kind, apiVersion: stored.apiVersion }, stored);
}

function checkWrite(history: History, write: WriteSeen, report: Report): void {
  const { outcome, key, mark, replaces, verb } = write;
  if (outcome.type === 'refused' || write.isDryRun) {
    if (mark !== undefined && history.marks.has(mark)) {
      const said = outcome.type === 'refused' ? outcome.why : 'a dry run';
      report('refused-is-not-made', `${mark} was made, but the client was told: ${said}`);
    }
    return;
  }
  if (outcome.type === 'unknown') return;
  if (verb === 'delete') return checkDeletion(history, write, outcome.object, report);
  const { object } = outcome;
  const revision = Number(object.metadata.resourceVersion);
  // Whoever changes an object that nothing holds any more completes its deletion, and is shown it as it went.
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
    report('no-lost-update', `${revision} was to replace ${replaces}, and replaced ${change.before?.revision}`);
}

/** A deletion is answered with the object that went (or was marked), or with a Status that names its uid. */
function checkDeletion(history: History, { key, replaces }: WriteSeen, answer: KubeObject, report: Report): void {
  const details = answer['details'] as { uid?: string } | undefined;
  const uid = answer.kind === 'Status' ? details?.uid : answer.metadata.uid;
  const revision = answer.kind === 'Status' ? undefined : Number(answer.metadata.resourceVersion);
  // Who marks an object and removes it shows it as marked; who only removes it shows what the mark of others left.
  const isShown = ({ revision: at, before, after }: Change) =>
    revision === undefined ? !after : at === revision || (!after && before?.revision === revision);
  const made = history.changesOf(key).filter((change) => change.before?.object.metadata.uid === uid && isShown(change));
  if (made.length === 0) return report('no-lost-acknowledged-write', `the object with uid ${uid} was not deleted`);
  const replaced = made.map(({ before }) => before!.revision);
  if (replaces !== undefined && !replaced.includes(replaces))
    report('no-lost-update', `revision ${replaces} was to be deleted, and ${replaced.join(' or ')} was`);
}

function checkGet(history: History, { key, atLeast, object }: GetSeen, report: Report): void {
  const changes = history.changesOf(key);
  const isLater = (change: Change | undefined) => change === undefined || change.revision > atLeast;
  if (!object) {
    // Absent from its deletion (or the beginning) to the next change.
    const wasAbsent = isLater(changes[0]) || changes.some((change, i) => !change.after && isLater(changes[i + 1]));
    if (!wasAbsent) report('read-your-write', `it was there at ${atLeast} and ever since, and was not found`);
    return;
  }
  const revision = Number(object.metadata.resourceVersion);
  const at = changes.findIndex((change) => change.revision === revision);
  if (!changes[at]?.after || !isSame(object, changes[at].after.object))
    return report('faithful', `what was shown as ${revision} is not what was stored`);
  if (!isLater(changes[at + 1]))
    report('read-your-write', `${revision} was shown, but ${changes[at + 1]!.revision} was acknowledged (${atLeast})`);
}

function checkList(history: History, { selection, atLeast, exactly, pages }: ListSeen, report: Report): void {
  const first = pages[0]!;
  if (first.revision < atLeast) report('read-your-write', `the list is of ${first.revision}, not of ${atLeast}`);
  if (exactly !== undefined && first.revision !== exactly)
    report('consistent-list', `it was to be of ${exactly}, and is of ${first.revision}`);
  const want = history.statesAt(first.revision, selection.selects);
  let taken = 0;
  for (const [index, { revision, items, remaining, isLast }] of pages.entries()) {
    if (revision !== first.revision)
      report('consistent-list', `page ${index} is of ${revision}, the first was of ${first.revision}`);
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
      report('consistent-list', `page ${index} of ${revision} says ${remaining} remain of ${want.length - taken}`);
    if (isLast && taken < want.length)
      report('consistent-list', `the list of ${revision} ends before ${want[taken]![0]}`);
  }
}

/** Walks through what one connection told. */
class WatchCheck {
  /** All that was selected up to here was told. Undefined while the initial state is. */
  private position: number | undefined;
  private readonly told = new Set<string>();
  private readonly initial = new Map<string, KubeObject>();
  private hasToldChange = false;

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
    if (this.position === undefined) return this.report('reliable', 'the initial state never ended');
    const missing = this.firstMissing(this.position, this.history.head);
    if (missing) this.report('reliable', `${describe(missing)} never came`);
  }

  private initialObject(change: string, key: string, object: KubeObject): void {
    if (change !== 'ADDED') this.report('filtered', `the initial state holds ${change} ${key}`);
    if (this.initial.has(key)) this.report('unique', `the initial state holds ${key} twice`);
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
      this.report('read-your-write', `it began with the state of ${revision}, not of ${start.atLeast}`);
    const want = new Map<string, State>(this.history.statesAt(revision, selection.selects));
    for (const [key, { object }] of want) {
      const shown = this.initial.get(key);
      if (!shown) this.report('reliable', `the initial state of ${revision} lacks ${key}`);
      else if (!isSame(shown, object)) this.report('faithful', `the initial state of ${revision} shows another ${key}`);
    }
    for (const key of this.initial.keys())
      if (!want.has(key)) this.report('filtered', `the initial state of ${revision} shows ${key}`);
    this.position = revision;
  }

  private change(type: string, key: string, object: KubeObject): void {
    const { start, selection } = this.watch;
    const revision = Number(object.metadata.resourceVersion);
    const position = this.position!;
    const isFirst = !this.hasToldChange;
    this.hasToldChange = true;
    if (revision <= position) {
      const text = `${type} ${key}@${revision} came at ${position}`;
      if (this.told.has(`${key}@${revision}`)) return this.report('unique', text);
      const isBeforeStart = start.type === 'after' && revision <= start.revision;
      return this.report(isBeforeStart ? 'resumable' : 'ordered', text);
    }
    const missing = this.firstMissing(position, revision - 1);
    if (missing) {
      const isResumed = isFirst && start.type === 'after' && start.isResumed;
      this.report(isResumed ? 'resumable' : 'reliable', `${describe(missing)} was not told before ${key}@${revision}`);
    }
    this.position = revision;
    this.told.add(`${key}@${revision}`);
    const made = this.history.changeAt(key, revision);
    if (!made) return this.report('faithful', `${type} ${key}@${revision} never happened`);
    const due = typeOf(made, selection);
    if (due !== type)
      return this.report('filtered', `${key}@${revision} was told as ${type}, and is ${due ?? 'nothing'}`);
    const shown = type === 'DELETED' ? at(made.before!.object, revision) : made.after!.object;
    if (!isSame(object, shown)) this.report('faithful', `${type} ${key}@${revision} shows what was not stored`);
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

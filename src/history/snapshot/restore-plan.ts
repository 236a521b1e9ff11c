import { asFields, asItems, asText, type Fields } from '../../machinery/fields.js';
import { fieldChanges } from '../field-changes.js';
import { kindOf } from '../kind-names.js';
import { isAdmissionKind, rankOf, ranksMax } from '../write-order.js';
import type { ObjectSet } from './object-set.js';

/** An object to write. */
export interface Restored {
  readonly key: string;
  /** The saved object. */
  readonly wanted: Fields;
  /** The object of the server; undefined to create it. */
  readonly live: Fields | undefined;
  /** Objects of a lower stage are written before. */
  readonly stage: number;
}

export interface RestorePlan {
  readonly creates: readonly Restored[];
  readonly replaces: readonly Restored[];
  readonly deletes: readonly { readonly key: string; readonly live: Fields }[];
  readonly unchanged: number;
  /** Objects that cannot be restored, each with the reason. */
  readonly impossible: readonly string[];
}

/** Owners are written before what they own, whose references need their uids: at most so many levels. */
const ownerLevelsMax = 16;

/** Returns the stage of each object in the order of writes. Objects of one stage do not need each other. */
function stagesOf(objects: ObjectSet): (key: string) => number {
  const keysByUid = new Map([...objects].map(([key, object]) => [uidOf(object), key]));
  keysByUid.delete('');
  const owned = [...objects].flatMap(([key, object]) => {
    const uids = asItems(asFields(object['metadata'])['ownerReferences']).map(({ uid }) => asText(uid));
    const owners = uids.flatMap((uid) => keysByUid.get(uid) ?? []);
    return owners.length > 0 ? [{ key, owners }] : [];
  });
  const levels = new Map<string, number>();
  for (let level = 1; level <= ownerLevelsMax; level++) {
    const raised = owned.filter(({ owners }) => owners.some((owner) => (levels.get(owner) ?? 0) === level - 1));
    for (const { key } of raised) levels.set(key, level);
  }
  const perLevel = ranksMax;
  return (key) => {
    const object = objects.get(key) ?? {};
    if (isAdmissionKind(asText(object['kind']))) return (ownerLevelsMax + 1) * perLevel;
    return (levels.get(key) ?? 0) * perLevel + rankOf(asText(object['kind']));
  };
}

/** Compares what was saved with what the server has, and returns the least writes that make them equal. */
export function planRestore(saved: ObjectSet, live: ObjectSet): RestorePlan {
  const uids = uidsNow(saved, live);
  const stageOf = stagesOf(saved);
  const creates: Restored[] = [];
  const replaces: Restored[] = [];
  const impossible: string[] = [];
  let unchanged = 0;
  for (const [key, object] of saved) {
    const now = live.get(key);
    if (isTerminating(object)) impossible.push(`${key}: it was being deleted when the snapshot was saved`);
    else if (now && isTerminating(now)) impossible.push(`${key}: it is being deleted; restore again when it is gone`);
    else if (!now) creates.push({ key, wanted: object, live: undefined, stage: stageOf(key) });
    else if (isEqual(withUids(object, uids), now)) unchanged++;
    else replaces.push({ key, wanted: object, live: now, stage: stageOf(key) });
  }
  const gone = [...live].filter(([key, object]) => !saved.has(key) && !isTerminating(object));
  const goneNamespaces = new Set(gone.filter(([, object]) => isNamespace(object)).map(([, object]) => nameOf(object)));
  return {
    creates,
    replaces,
    // The content of a namespace is deleted with it.
    deletes: gone
      .filter(([, object]) => !goneNamespaces.has(asText(asFields(object['metadata'])['namespace'])))
      .map(([key, object]) => ({ key, live: object }))
      .sort((one, other) => admissionFirst(other.live) - admissionFirst(one.live)),
    unchanged,
    impossible,
  };
}

const isNamespace = (object: Fields) => kindOf(object) === 'Namespace';
const nameOf = (object: Fields) => asText(asFields(object['metadata'])['name']);
const isTerminating = (object: Fields) => asFields(object['metadata'])['deletionTimestamp'] !== undefined;

/** The uids of saved objects that were created again, with their uids on the server. */
function uidsNow(saved: ObjectSet, live: ObjectSet): Map<string, string> {
  const uids = new Map<string, string>();
  for (const [key, object] of saved) {
    const now = live.get(key);
    if (now && uidOf(object) !== '' && uidOf(now) !== uidOf(object)) uids.set(uidOf(object), uidOf(now));
  }
  return uids;
}

export const uidOf = (object: Fields): string => asText(asFields(object['metadata'])['uid']);

/** Replaces uids wherever they are: in ownerReferences, claims, annotations of token Secrets. */
export function withUids<T>(value: T, uids: ReadonlyMap<string, string>): T {
  if (uids.size === 0) return value;
  if (typeof value === 'string') return (uids.get(value) ?? value) as T;
  if (Array.isArray(value)) return value.map((item: unknown) => withUids(item, uids)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withUids<unknown>(inner, uids)])) as T;
}

const isEqual = (one: Fields, other: Fields) => fieldChanges(restorable(one), restorable(other)).length === 0;

/** Returns an object without the fields that the server alone sets. */
export function restorable(object: Fields): Fields {
  const {
    uid: _uid,
    resourceVersion: _version,
    generation: _generation,
    creationTimestamp: _created,
    managedFields: _managedFields,
    selfLink: _selfLink,
    ...metadata
  } = asFields(object['metadata']);
  return { ...object, metadata };
}

const admissionFirst = ({ kind }: Fields) => Number(isAdmissionKind(asText(kind)));

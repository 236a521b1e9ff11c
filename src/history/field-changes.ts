import { stringifyJson } from '../codec/json.js';

/** A field that two states of an object do not share. A value is undefined where the field is absent. */
export interface FieldChange {
  /** `spec.containers[name=web].image` */
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Fields that identify the items of lists, in the order in which they are tried. */
const itemKeys = ['name', 'key', 'type', 'uid', 'ip', 'mountPath', 'containerPort', 'port', 'id'] as const;

type Values = Readonly<Record<string, unknown>>;

/** Returns the fields that differ, in the order of the fields. Items of lists are matched by a key if they have one. */
export function fieldChanges(before: unknown, after: unknown): FieldChange[] {
  const changes: FieldChange[] = [];
  compare(before, after, '', changes);
  return changes;
}

function compare(before: unknown, after: unknown, path: string, changes: FieldChange[]): void {
  if (Object.is(before, after)) return;
  if (isMap(before) && isMap(after)) return compareMaps(before, after, path, changes);
  if (Array.isArray(before) && Array.isArray(after)) {
    if (before.every(isMap) && after.every(isMap)) return compareLists(before, after, path, changes);
    if (stringifyJson(before) === stringifyJson(after)) return;
  }
  changes.push({ path, before, after });
}

function compareMaps(before: Values, after: Values, path: string, changes: FieldChange[]): void {
  const added = Object.keys(after).filter((name) => !Object.hasOwn(before, name));
  for (const name of [...Object.keys(before), ...added]) {
    compare(own(before, name), own(after, name), pathOf(path, name), changes);
  }
}

function compareLists(before: readonly Values[], after: readonly Values[], path: string, changes: FieldChange[]): void {
  const key = itemKeys.find((name) => identifies(before, name) && identifies(after, name));
  const idOf = (item: Values, index: number) => (key === undefined ? `${index}` : `${key}=${String(item[key])}`);
  const newItems = new Map(after.map((item, index) => [idOf(item, index), item]));
  for (const [index, item] of before.entries()) {
    const id = idOf(item, index);
    compare(item, newItems.get(id), `${path}[${id}]`, changes);
    newItems.delete(id);
  }
  for (const [id, item] of newItems) changes.push({ path: `${path}[${id}]`, before: undefined, after: item });
}

/** True if all items have the field, each with another text or number. */
function identifies(items: readonly Values[], name: string): boolean {
  const ids = new Set(items.map((item) => own(item, name)).filter((id) => typeof id === 'string' || isFinite(id)));
  return ids.size === items.length;
}

const isFinite = (value: unknown): value is number => Number.isFinite(value);

const isMap = (value: unknown): value is Values => typeof value === 'object' && value !== null && !Array.isArray(value);

const own = (map: Values, name: string): unknown => (Object.hasOwn(map, name) ? map[name] : undefined);

function pathOf(path: string, name: string): string {
  if (!/^[\w-]+$/.test(name)) return `${path}[${stringifyJson(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}

// The fields that differ between two states of an object, as `keelson history get` prints them.
import { printJson } from '../api/json.js';

/** Fields that identify the items of lists, in the order in which they are tried. */
const itemKeys = ['name', 'key', 'type', 'uid', 'ip', 'mountPath', 'containerPort', 'port', 'id'];

/** Returns [{ path, before, after }]; a value is undefined where the field is absent. */
export function fieldChanges(before, after) {
  const changes = [];
  compare(before, after, '', changes);
  return changes;
}

function compare(before, after, path, changes) {
  if (Object.is(before, after)) return;
  if (isMap(before) && isMap(after)) return compareMaps(before, after, path, changes);
  if (Array.isArray(before) && Array.isArray(after)) {
    if (before.every(isMap) && after.every(isMap)) return compareLists(before, after, path, changes);
    if (printJson(before) === printJson(after)) return;
  }
  changes.push({ path, before, after });
}

function compareMaps(before, after, path, changes) {
  const added = Object.keys(after).filter((name) => !Object.hasOwn(before, name));
  for (const name of [...Object.keys(before), ...added]) {
    compare(own(before, name), own(after, name), pathOf(path, name), changes);
  }
}

function compareLists(before, after, path, changes) {
  const key = itemKeys.find((name) => identifies(before, name) && identifies(after, name));
  const idOf = (item, index) => (key === undefined ? `${index}` : `${key}=${String(item[key])}`);
  const newItems = new Map(after.map((item, index) => [idOf(item, index), item]));
  for (const [index, item] of before.entries()) {
    const id = idOf(item, index);
    compare(item, newItems.get(id), `${path}[${id}]`, changes);
    newItems.delete(id);
  }
  for (const [id, item] of newItems) changes.push({ path: `${path}[${id}]`, before: undefined, after: item });
}

/** True if all items have the field, each with another text or number. */
function identifies(items, name) {
  const ids = items.map((item) => own(item, name)).filter((id) => typeof id === 'string' || Number.isFinite(id));
  return new Set(ids).size === items.length;
}

const isMap = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const own = (map, name) => (Object.hasOwn(map, name) ? map[name] : undefined);

function pathOf(path, name) {
  if (!/^[\w-]+$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}

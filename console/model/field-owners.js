// Field sets of metadata.managedFields: a field is `f:name`, an item of a list `k:{"key":"value"}`, `v:value` or `i:0`. A
// set without members owns the field with all that it contains.
import { tryJson } from '../api/json.js';

/** Returns the managers of an object: [{ manager, operation, subresource, time, label, fields }]. */
export function managersOf(object) {
  const entries = Array.isArray(object?.metadata?.managedFields) ? object.metadata.managedFields : [];
  return entries.map((entry, index) => {
    const { manager = 'unknown', operation = '', subresource = '', time = '', fieldsV1 = {} } = entry;
    const label = `${manager}${subresource === '' ? '' : ` (${subresource})`} · ${operation}`;
    return { index, manager, operation, subresource, time, label, fields: fieldsV1 ?? {} };
  });
}

/**
 * Returns the managers that wrote between two states: their entries are new or have another time. A manager that writes the
 * same fields twice in a second leaves no trace: then the latest one, if it is alone. Without a state before, the latest ones.
 */
export function writersBetween(before, after) {
  const keyOf = ({ label, time }) => `${label} ${time}`;
  const known = new Set(managersOf(before).map(keyOf));
  const managers = managersOf(after);
  const written = managers.filter((one) => !known.has(keyOf(one)));
  if (before && written.length > 0) return written;
  const latest = managers
    .map(({ time }) => time)
    .sort()
    .at(-1);
  const candidates = managers.filter(({ time }) => time === latest);
  return !before || candidates.length === 1 ? candidates : [];
}

/** Returns the sets of the managers at the root of the object. */
export const ownedSets = (managers) => managers.map(({ index, fields }) => ({ index, set: fields }));

const hasMember = (set, name) => Object.hasOwn(set, name);
const isWhole = (set) => Object.keys(set).length === 0;

/** Returns the sets below a member, and the managers that own it. */
function member(owned, matches) {
  const below = [];
  const owners = [];
  for (const one of owned) {
    if (one.isWhole) {
      below.push(one);
      owners.push(one.index);
      continue;
    }
    const name = matches(one.set);
    if (name === undefined) continue;
    const set = one.set[name] ?? {};
    below.push({ index: one.index, set, isWhole: isWhole(set) });
    if (isWhole(set) || hasMember(set, '.')) owners.push(one.index);
  }
  // A parent that no manager owns by itself is shown with those that own something below it.
  return { below, owners: owners.length > 0 ? owners : below.map(({ index }) => index) };
}

export function ownersOfField(owned, name) {
  return member(owned, (set) => (hasMember(set, `f:${name}`) ? `f:${name}` : undefined));
}

export function ownersOfItem(owned, item, index) {
  return member(owned, (set) => {
    const { byIndex, byValue, byKey } = itemNamesOf(set);
    return byIndex.get(index) ?? (isMap(item) ? nameByKey(byKey, item) : byValue.get(String(item)));
  });
}

const isMap = (value) => typeof value === 'object' && value !== null;

/** Names of items in a set, found by what they name. Lists may have thousands of items. */
const itemNames = new WeakMap();

function itemNamesOf(set) {
  let names = itemNames.get(set);
  if (!names) itemNames.set(set, (names = readItemNames(set)));
  return names;
}

function readItemNames(set) {
  const names = { byIndex: new Map(), byValue: new Map(), byKey: new Map() };
  for (const name of Object.keys(set)) {
    const text = name.slice(2);
    if (name.startsWith('i:')) names.byIndex.set(Number(text), name);
    if (!name.startsWith('k:') && !name.startsWith('v:')) continue;
    const value = tryJson(text);
    if (value === undefined) continue;
    if (name.startsWith('v:')) names.byValue.set(String(value), name);
    else if (isMap(value)) addKey(names.byKey, value, name);
  }
  return names;
}

/** Adds a key to its group: keys with the same fields are found by the value of each field. */
function addKey(groups, key, name) {
  const fields = Object.keys(key);
  const id = JSON.stringify(fields);
  if (!groups.has(id)) groups.set(id, { fields, all: [], byField: new Map(fields.map((field) => [field, new Map()])) });
  const { all, byField } = groups.get(id);
  all.push({ key, name });
  for (const field of fields) {
    const same = byField.get(field);
    if (same.has(key[field])) same.get(key[field]).push({ key, name });
    else same.set(key[field], [{ key, name }]);
  }
}

/** A key with a default, such as the protocol of a port, may be absent from the object. */
function nameByKey(groups, item) {
  for (const { fields, all, byField } of groups.values()) {
    const present = fields.filter((field) => item[field] !== undefined);
    const candidates = present
      .map((field) => byField.get(field).get(item[field]) ?? [])
      .reduce((fewest, some) => (some.length < fewest.length ? some : fewest), all);
    const found = candidates.find(({ key }) => present.every((field) => key[field] === item[field]));
    if (found) return found.name;
  }
  return undefined;
}

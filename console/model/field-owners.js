// Field sets of metadata.managedFields: a field is `f:name`, an item of a list `k:{"key":"value"}`, `v:value` or `i:0`. A
// set without members owns the field with all that it contains.

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
  return member(owned, (set) => Object.keys(set).find((name) => isItem(name, item, index)));
}

function isItem(name, item, index) {
  const text = name.slice(2);
  if (name.startsWith('i:')) return Number(text) === index;
  if (!name.startsWith('k:') && !name.startsWith('v:')) return false;
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    return false;
  }
  if (name.startsWith('v:')) return value === item || String(value) === String(item);
  if (typeof item !== 'object' || item === null || typeof value !== 'object' || value === null) return false;
  // A key with a default, such as the protocol of a port, may be absent from the object.
  return Object.entries(value).every(([key, one]) => item[key] === undefined || item[key] === one);
}

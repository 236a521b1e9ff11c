/**
 * Arranges rows by their ownerReferences: children follow their controller, or else their first owner. Rows whose owner is
 * absent are roots, as are those of a cycle. Returns [{ row, depth, children, isExpanded }] in the order of display.
 */
export function arrange(rows, collapsed, matches = () => true) {
  const byUid = new Map(rows.map((row) => [row.uid, row]));
  const children = new Map();
  const roots = [];
  for (const row of rows) {
    const parent = parentOf(row, byUid);
    if (!parent) roots.push(row);
    else if (children.has(parent)) children.get(parent).push(row);
    else children.set(parent, [row]);
  }
  const shown = shownRows(rows, byUid, matches);
  const lines = [];
  const placed = new Set();
  const place = (root) => {
    const stack = [{ row: root, depth: 0 }];
    while (stack.length > 0) {
      const { row, depth } = stack.pop();
      if (placed.has(row) || !shown.has(row)) continue;
      placed.add(row);
      const own = (children.get(row) ?? []).filter((child) => shown.has(child));
      const isExpanded = own.length > 0 && !collapsed.has(row.id);
      lines.push({ row, depth, children: own.length, isExpanded });
      if (isExpanded) for (const child of own.sort(order).reverse()) stack.push({ row: child, depth: depth + 1 });
      else own.forEach((child) => hide(child, children, placed));
    }
  };
  roots.sort(order).forEach(place);
  rows.forEach((row) => {
    if (!placed.has(row)) place(row);
  });
  return lines;
}

const order = (a, b) =>
  compare(a.namespace, b.namespace) || compare(a.kind.kind, b.kind.kind) || compare(a.name, b.name);
const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

function parentOf(row, byUid) {
  const owner = row.owners.find((one) => one?.controller) ?? row.owners[0];
  const parent = owner && byUid.get(owner.uid);
  return parent === row ? undefined : parent;
}

/** Returns the rows that match, and their owners. */
function shownRows(rows, byUid, matches) {
  const shown = new Set();
  for (const row of rows) {
    if (!matches(row)) continue;
    for (let one = row; one && !shown.has(one); one = parentOf(one, byUid)) shown.add(one);
  }
  return shown;
}

/** Marks the rows below a collapsed one as placed. */
function hide(row, children, placed) {
  const stack = [row];
  while (stack.length > 0) {
    const one = stack.pop();
    if (placed.has(one)) continue;
    placed.add(one);
    stack.push(...(children.get(one) ?? []));
  }
}

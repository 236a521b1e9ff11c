const comparators = {
  name: (a, b) => byText(a.sortName, b.sortName),
  age: (a, b) => byText(b.created, a.created) || byText(a.sortName, b.sortName),
  revision: (a, b) => b.revision - a.revision || byText(a.sortName, b.sortName),
};

const byText = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

/**
 * An object as a row: the cells of the server's Table, and what the lists need of its metadata. Annotations and
 * managedFields of 10,000 objects would take the memory of the page.
 */
export function rowOf({ metadata, cells }, kind) {
  const { name = '', namespace = '', uid = '', creationTimestamp = '', resourceVersion = '' } = metadata;
  const owners = Array.isArray(metadata.ownerReferences) ? metadata.ownerReferences : [];
  return {
    id: uid || `${kind.id}/${namespace}/${name}`,
    uid,
    kind,
    name,
    namespace,
    owners,
    cells,
    sortName: `${namespace}\u0000${name}`,
    created: creationTimestamp,
    revision: Number(resourceVersion) || 0,
    searched: `${namespace}/${name} ${cells.slice(1).join(' ')} ${labelsOf(metadata)}`.toLowerCase(),
  };
}

function labelsOf({ labels }) {
  return Object.entries(labels ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .join(' ');
}

/** The rows of a list, sorted and filtered. Each change moves one row, so that many changes a second stay cheap. */
export class Collection {
  #all = new Map();
  #compare = comparators.name;
  #filter = '';
  /** The rows that match the filter, in order. */
  visible = [];

  get size() {
    return this.#all.size;
  }

  get(id) {
    return this.#all.get(id);
  }

  clear() {
    this.#all.clear();
    this.visible = [];
  }

  /** Adds rows of a page, and sorts once. */
  addAll(rows) {
    for (const row of rows) this.#all.set(row.id, row);
    this.#rebuild();
  }

  set(row) {
    this.delete(row.id);
    this.#all.set(row.id, row);
    if (this.#matches(row)) this.visible.splice(this.#position(row), 0, row);
  }

  delete(id) {
    const before = this.#all.get(id);
    if (!before) return;
    this.#all.delete(id);
    const at = this.#position(before);
    if (this.visible[at] === before) this.visible.splice(at, 1);
  }

  sortBy(order) {
    this.#compare = comparators[order] ?? comparators.name;
    this.#rebuild();
  }

  filterBy(text) {
    this.#filter = text.trim().toLowerCase();
    this.#rebuild();
  }

  #matches(row) {
    return this.#filter === '' || this.#filter.split(/\s+/).every((word) => row.searched.includes(word));
  }

  #rebuild() {
    this.visible = [...this.#all.values()].filter((row) => this.#matches(row)).sort(this.#compare);
  }

  /** Returns the index of the row, or the one where it belongs. */
  #position(row) {
    let low = 0;
    let high = this.visible.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#compare(this.visible[middle], row) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

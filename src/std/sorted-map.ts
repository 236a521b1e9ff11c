import { compareUtf8 } from './compare-utf8.js';
import {
  Branch,
  branchMax,
  childAt,
  collect,
  insertAt,
  Leaf,
  leafMax,
  lowerBound,
  lowestKey,
  sizeOf,
  width,
  type Node,
} from './sorted-map-nodes.js';
import { RangeIterator } from './sorted-map-range.js';

/**
 * An ordered map of strings with cheap snapshots: a copy-on-write B+tree.
 *
 *            [ '' | '/c' | '/m' ]          a branch: the lowest key of each child, and the number of entries below
 *            /      |       \\
 *   [/a /b ..]  [/c /d ..]  [/m ..]        leaves: sorted keys and their values
 *
 * Every node has the edition of the map that created it. A map changes nodes of its own edition in place and copies all
 * others; snapshot() returns the root and starts a new edition, so nodes of the snapshot never change again. Keys are
 * ordered by their UTF-8 bytes.
 */
let editions = 0;

/** An immutable state of the map (or, as base class of SortedMap, the current one). */
export class SortedView<V> {
  constructor(
    protected root: Node<V>,
    protected height: number,
    /** True if a key has surrogates: the only case in which UTF-16 order differs from UTF-8 order. */
    protected hasSurrogates: boolean,
  ) {}

  get size(): number {
    return this.root.size;
  }

  get(key: string): V | undefined {
    let node = this.root;
    for (let level = this.height; level > 0; level--) {
      const branch = node as Branch<V>;
      node = branch.children[childAt(branch.keys, key, this.hasSurrogates)]!;
    }
    const leaf = node as Leaf<V>;
    const at = lowerBound(leaf.keys, key, this.hasSurrogates);
    return at < leaf.keys.length && leaf.keys[at] === key ? leaf.values[at] : undefined;
  }

  /** Returns the number of keys below `key`. */
  rank(key: string): number {
    const exact = this.hasSurrogates || hasSurrogate(key);
    let node = this.root;
    let before = 0;
    for (let level = this.height; level > 0; level--) {
      const branch = node as Branch<V>;
      const at = childAt(branch.keys, key, exact);
      for (let i = 0; i < at; i++) before += branch.children[i]!.size;
      node = branch.children[at]!;
    }
    return before + lowerBound((node as Leaf<V>).keys, key, exact);
  }

  /** Returns the number of keys with `prefix`, from the key `from` (inclusive) on, in O(log n). */
  count(prefix: string, from: string = prefix): number {
    return Math.max(0, this.rankPast(prefix) - this.rank(compareUtf8(from, prefix) > 0 ? from : prefix));
  }

  /** Returns the values of keys with `prefix` in order, from the key `from` (inclusive) on. */
  range(prefix: string, from: string = prefix): IterableIterator<V> {
    if (this.size === 0) return [].values();
    const start = compareUtf8(from, prefix) > 0 ? from : prefix;
    const first = this.rank(start);
    return new RangeIterator(this.root, this.height, first, this.rankPast(prefix) - first);
  }

  private rankPast(prefix: string): number {
    const end = prefixEnd(prefix);
    return end === undefined ? this.size : this.rank(end);
  }
}

export class SortedMap<V> extends SortedView<V> {
  private edition = ++editions;
  /** Further results of put() and remove(): the node that was split off, and the replaced or removed value. */
  private splitOff: Node<V> | undefined;
  private before: V | undefined;
  private isNewKey = false;

  constructor() {
    super(new Leaf<V>(0, [], [], false), 0, false);
  }

  /** Creates a map from a snapshot, which stays unchanged. */
  static from<V>(view: SortedView<V>): SortedMap<V> {
    const map = new SortedMap<V>();
    map.root = view['root'];
    map.height = view['height'];
    map.hasSurrogates = view['hasSurrogates'];
    return map;
  }

  snapshot(): SortedView<V> {
    this.edition = ++editions;
    return new SortedView(this.root, this.height, this.hasSurrogates);
  }

  /** Returns the previous value. */
  set(key: string, value: V): V | undefined {
    // Surrogates change the order only in combination with keys from U+E000 on: rare enough to rebuild the tree.
    if (!this.hasSurrogates && hasSurrogate(key)) this.reorder();
    this.root = this.put(this.root, this.height, key, value);
    if (this.splitOff) {
      const right = this.splitOff;
      const size = this.root.size + right.size;
      this.root = new Branch(this.edition, ['', lowestKey(right, this.height)], [this.root, right], size, true);
      this.height++;
      this.splitOff = undefined;
    }
    return this.taken();
  }

  /** Returns the previous value. */
  delete(key: string): V | undefined {
    if (this.get(key) === undefined) return undefined;
    this.root = this.remove(this.root, this.height, key);
    while (this.height > 0 && (this.root as Branch<V>).children.length === 1) {
      this.root = (this.root as Branch<V>).children[0]!;
      this.height--;
    }
    return this.taken();
  }

  private taken(): V | undefined {
    const value = this.before;
    this.before = undefined;
    return value;
  }

  private put(node: Node<V>, level: number, key: string, value: V): Node<V> {
    if (level === 0) return this.putInLeaf(node as Leaf<V>, key, value);
    const at = childAt((node as Branch<V>).keys, key, this.hasSurrogates);
    const child = this.put((node as Branch<V>).children[at]!, level - 1, key, value);
    const branch = this.ownBranch(node as Branch<V>);
    branch.children[at] = child;
    if (this.isNewKey) branch.size++;
    if (this.splitOff) {
      this.ownKeys(branch);
      insertAt(branch.keys, at + 1, lowestKey(this.splitOff, level - 1));
      insertAt(branch.children, at + 1, this.splitOff);
      this.splitOff = branch.children.length > branchMax ? this.splitBranch(branch, at + 1) : undefined;
    }
    return branch;
  }

  private putInLeaf(node: Leaf<V>, key: string, value: V): Leaf<V> {
    const at = lowerBound(node.keys, key, this.hasSurrogates);
    const leaf = this.ownLeaf(node);
    this.isNewKey = at === leaf.keys.length || leaf.keys[at] !== key;
    if (!this.isNewKey) {
      this.before = leaf.values[at];
      leaf.values[at] = value;
      return leaf;
    }
    this.ownKeys(leaf);
    insertAt(leaf.keys, at, key);
    insertAt(leaf.values, at, value);
    if (leaf.keys.length > leafMax) this.splitOff = this.splitLeaf(leaf, at);
    return leaf;
  }

  /**
   * Splits off the right half; after an insert at the end only the inserted entry, so that sorted input fills the
   * nodes.
   */
  private splitLeaf(leaf: Leaf<V>, inserted: number): Leaf<V> {
    const length = leaf.keys.length;
    const middle = inserted === length - 1 ? length - 1 : length >>> 1;
    return new Leaf(this.edition, leaf.keys.splice(middle), leaf.values.splice(middle), true);
  }

  /** Like splitLeaf(), but keeps two children at least: refill() needs a neighbour for each. */
  private splitBranch(branch: Branch<V>, inserted: number): Branch<V> {
    const length = branch.children.length;
    const middle = inserted === length - 1 ? length - 2 : length >>> 1;
    const children = branch.children.splice(middle);
    const size = sizeOf(children);
    branch.size -= size;
    return new Branch(this.edition, branch.keys.splice(middle), children, size, true);
  }

  private remove(node: Node<V>, level: number, key: string): Node<V> {
    if (level === 0) {
      const leaf = this.ownLeaf(node as Leaf<V>);
      const at = lowerBound(leaf.keys, key, this.hasSurrogates);
      this.ownKeys(leaf);
      this.before = leaf.values[at];
      leaf.keys.splice(at, 1);
      leaf.values.splice(at, 1);
      return leaf;
    }
    const branch = this.ownBranch(node as Branch<V>);
    const at = childAt(branch.keys, key, this.hasSurrogates);
    branch.children[at] = this.remove(branch.children[at]!, level - 1, key);
    branch.size--;
    this.refill(branch, at, level - 1);
    return branch;
  }

  /** Merges a nearly empty child with a neighbour, or rebalances the two. */
  private refill(branch: Branch<V>, at: number, level: number): void {
    const max = level === 0 ? leafMax : branchMax;
    if (width(branch.children[at]!) >= max / 4 || branch.children.length === 1) return;
    const left = at > 0 ? at - 1 : 0;
    const joined = this.join(branch.children[left]!, branch.children[left + 1]!, level, branch.keys[left + 1]!);
    branch.children[left] = joined;
    this.ownKeys(branch);
    if (width(joined) <= max) {
      branch.keys.splice(left + 1, 1);
      branch.children.splice(left + 1, 1);
    } else {
      const right = this.halve(joined, level);
      branch.keys[left + 1] = lowestKey(right, level);
      branch.children[left + 1] = right;
    }
  }

  private join(left: Node<V>, right: Node<V>, level: number, border: string): Node<V> {
    if (level === 0) {
      const [a, b] = [left as Leaf<V>, right as Leaf<V>];
      return new Leaf(this.edition, a.keys.concat(b.keys), a.values.concat(b.values), true);
    }
    const [a, b] = [left as Branch<V>, right as Branch<V>];
    // The first key of a branch is never compared; in a merged branch it is, so it must be the border key.
    const keys = a.keys.concat(border, b.keys.slice(1));
    return new Branch(this.edition, keys, a.children.concat(b.children), a.size + b.size, true);
  }

  private halve(node: Node<V>, level: number): Node<V> {
    return level === 0 ? this.splitLeaf(node as Leaf<V>, -1) : this.splitBranch(node as Branch<V>, -1);
  }

  private ownLeaf(leaf: Leaf<V>): Leaf<V> {
    return leaf.edition === this.edition ? leaf : new Leaf(this.edition, leaf.keys, leaf.values.slice(), false);
  }

  private ownBranch(branch: Branch<V>): Branch<V> {
    if (branch.edition === this.edition) return branch;
    return new Branch(this.edition, branch.keys, branch.children.slice(), branch.size, false);
  }

  private ownKeys(node: Node<V>): void {
    if (node.ownsKeys) return;
    node.keys = node.keys.slice();
    node.ownsKeys = true;
  }

  private reorder(): void {
    const entries: [string, V][] = [];
    collect(this.root, this.height, entries);
    entries.sort((a, b) => compareUtf8(a[0], b[0]));
    this.root = new Leaf<V>(this.edition, [], [], true);
    this.height = 0;
    this.hasSurrogates = true;
    for (const [key, value] of entries) this.set(key, value);
  }
}

const hasSurrogate = (text: string) => /[\ud800-\udfff]/.test(text);

/** Returns the lowest string above all strings with `prefix`; undefined if there is none. */
export function prefixEnd(prefix: string): string | undefined {
  const lastUnit = prefix.charCodeAt(prefix.length - 1);
  if (lastUnit < 0xd7ff) return prefix.slice(0, -1) + String.fromCharCode(lastUnit + 1);
  const points = Array.from(prefix, (char) => char.codePointAt(0)!);
  while (points.length > 0) {
    const last = points.pop()!;
    if (last === 0x10ffff) continue;
    return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
  }
  return undefined;
}

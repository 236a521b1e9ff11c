import type { Branch, Leaf } from './sorted-map-nodes.js';
import { type Node } from './sorted-map-nodes.js';

/** Counts the remaining entries, so that it compares no keys. */
export class RangeIterator<V> implements IterableIterator<V> {
  private readonly path: Branch<V>[] = [];
  private readonly at: number[] = [];
  private values: V[];
  private index: number;

  constructor(
    root: Node<V>,
    height: number,
    rank: number,
    private remaining: number,
  ) {
    let node = root;
    for (let level = height; level > 0; level--) {
      const branch = node as Branch<V>;
      let child = 0;
      while (child < branch.children.length - 1 && rank >= branch.children[child]!.size) {
        rank -= branch.children[child++]!.size;
      }
      this.path.push(branch);
      this.at.push(child);
      node = branch.children[child]!;
    }
    this.values = (node as Leaf<V>).values;
    this.index = rank;
  }

  [Symbol.iterator](): this {
    return this;
  }

  next(): IteratorResult<V, undefined> {
    if (this.remaining <= 0) return { done: true, value: undefined };
    this.remaining--;
    if (this.index === this.values.length) this.enterNextLeaf();
    return { done: false, value: this.values[this.index++]! };
  }

  private enterNextLeaf(): void {
    let level = this.path.length - 1;
    while (this.at[level] === this.path[level]!.children.length - 1) level--;
    this.at[level]!++;
    let node = this.path[level]!.children[this.at[level]!]!;
    for (level++; level < this.path.length; level++) {
      this.path[level] = node as Branch<V>;
      this.at[level] = 0;
      node = (node as Branch<V>).children[0]!;
    }
    this.values = (node as Leaf<V>).values;
    this.index = 0;
  }
}

import { deepEqual } from '../machinery/deep-equal.js';
import { isJsonObject, type JsonValue } from '../machinery/kube-object.js';
import { PieceList } from '../std/piece-list.js';

/** Items of one list of the document. Indexes must be in range. */
export interface Items {
  readonly length: number;
  /** Returns undefined if out of range. */
  at(index: number): JsonValue | undefined;
  set(index: number, value: JsonValue): void;
  insert(index: number, value: JsonValue): void;
  remove(index: number): void;
}

/** Limit on depth after a patch: that of the decoder, and below what recursion can handle. */
export const documentDepthMax = 1000;

/** In longer lists, inserting into an array is slower than into chunks. */
const arrayLengthMax = 1000;

/**
 * The JSON document that a patch is applied to. A long list is split into chunks on the first insertion or removal
 * inside it, so that 10,000 operations at the front of a list of a million items cost no more than parsing it. It
 * becomes an array again before the list is read as a whole.
 */
export class PatchedDocument {
  copiedBytes = 0;
  private readonly inPieces = new Map<JsonValue[], PieceList<JsonValue>>();

  constructor(public root: JsonValue) {}

  items(list: JsonValue[]): Items {
    const pieces = this.inPieces.get(list);
    if (pieces) return pieces;
    return list.length > arrayLengthMax ? this.longList(list) : new ShortList(list);
  }

  /** True if the value equals `wanted`, a value of the patch: the cost is bounded by its size. */
  holds(value: JsonValue, wanted: JsonValue): boolean {
    if (this.inPieces.size === 0) return deepEqual(value, wanted);
    if (typeof value !== 'object' || value === null) return value === wanted;
    if (Array.isArray(value)) {
      if (!Array.isArray(wanted) || this.items(value).length !== wanted.length) return false;
      this.putBack(value);
      return value.every((item, index) => this.holds(item, wanted[index]!));
    }
    if (!isJsonObject(wanted)) return false;
    let fields = Object.keys(wanted).length;
    for (const name in value) {
      if (!Object.hasOwn(wanted, name) || !this.holds(value[name]!, wanted[name]!)) return false;
      fields--;
    }
    return fields === 0;
  }

  /** Turns the chunked lists inside the value back into arrays. */
  joinChunksWithin(value: JsonValue, depth = 0): void {
    if (this.inPieces.size === 0 || typeof value !== 'object' || value === null || depth > documentDepthMax) return;
    if (Array.isArray(value)) {
      this.putBack(value);
      for (const item of value) this.joinChunksWithin(item, depth + 1);
    } else for (const name in value) this.joinChunksWithin(value[name]!, depth + 1);
  }

  /** Turns all chunked lists back into arrays. */
  joinChunks(): void {
    for (const list of [...this.inPieces.keys()]) this.putBack(list);
  }

  private putBack(list: JsonValue[]): void {
    const pieces = this.inPieces.get(list);
    if (!pieces) return;
    this.inPieces.delete(list);
    const items = pieces.toArray();
    list.length = items.length;
    for (let index = 0; index < items.length; index++) list[index] = items[index]!;
  }

  /** A list that stays an array until an item is inserted or removed. */
  private longList(list: JsonValue[]): Items {
    const taken = () => {
      const pieces = new PieceList(list);
      this.inPieces.set(list, pieces);
      return pieces;
    };
    return {
      length: list.length,
      at: (index) => list[index],
      set: (index, value) => void (list[index] = value),
      insert: (index, value) => (index === list.length ? void list.push(value) : taken().insert(index, value)),
      remove: (index) => (index === list.length - 1 ? void list.pop() : taken().remove(index)),
    };
  }
}

class ShortList implements Items {
  constructor(private readonly list: JsonValue[]) {}
  get length(): number {
    return this.list.length;
  }
  at(index: number): JsonValue | undefined {
    return this.list[index];
  }
  set(index: number, value: JsonValue): void {
    this.list[index] = value;
  }
  insert(index: number, value: JsonValue): void {
    this.list.splice(index, 0, value);
  }
  remove(index: number): void {
    this.list.splice(index, 1);
  }
}

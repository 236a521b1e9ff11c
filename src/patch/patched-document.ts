import { deepEqual } from '../machinery/deep-equal.js';
import { isJsonObject, type JsonValue } from '../machinery/kube-object.js';
import { PieceList } from '../std/piece-list.js';

/** The items of one list of the document. Indices are within it. */
export interface Items {
  readonly length: number;
  /** Undefined outside the list. */
  at(index: number): JsonValue | undefined;
  set(index: number, value: JsonValue): void;
  insert(index: number, value: JsonValue): void;
  remove(index: number): void;
}

/** Nesting that a patch may leave: as much as a decoder lets in, and less than what recursion bears. */
export const documentDepthMax = 1000;

/** In longer lists an insertion that moves all items costs more than one in pieces. */
const arrayLengthMax = 1000;

/**
 * The JSON value that a patch is applied to. Long lists are kept in pieces from the first insertion or removal within
 * them on, so that 10,000 operations at the front of a list of a million items cost no more than reading it. Such a
 * list is put back into its array before anything reads it as a whole.
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

  /** True if the value says the same as `wanted`, which the patch brings: the cost is bounded by what it brings. */
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

  /** Puts the lists within the value back into their arrays. */
  settleWithin(value: JsonValue, depth = 0): void {
    if (this.inPieces.size === 0 || typeof value !== 'object' || value === null || depth > documentDepthMax) return;
    if (Array.isArray(value)) {
      this.putBack(value);
      for (const item of value) this.settleWithin(item, depth + 1);
    } else for (const name in value) this.settleWithin(value[name]!, depth + 1);
  }

  /** Puts all lists back into their arrays. */
  settle(): void {
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

  /** An array as long as nothing is moved in it. */
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

/** A longer piece is split: moving this many references costs less than finding the piece. */
const pieceLengthMax = 1024;

/**
 * A list for many insertions and removals at any position. An array moves all later items; here only the items of one
 * piece, at most `pieceLengthMax`, are moved:
 *
 *   [a b c] [d e] [f g h]   insert(4, x)   [a b c] [d x e] [f g h]
 */
export class PieceList<T> {
  length: number;
  private readonly pieces: T[][] = [];

  constructor(items: readonly T[]) {
    this.length = items.length;
    for (let at = 0; at < items.length; at += pieceLengthMax / 2) {
      this.pieces.push(items.slice(at, at + pieceLengthMax / 2));
    }
  }

  /** Returns undefined for an index outside the list. */
  at(index: number): T | undefined {
    if (index < 0 || index >= this.length) return undefined;
    const { piece, within } = this.locate(index);
    return this.pieces[piece]![within];
  }

  /** Replaces an item; `index` must be in the list. */
  set(index: number, item: T): void {
    const { piece, within } = this.locate(index);
    this.pieces[piece]![within] = item;
  }

  /** Inserts before `index`, which is in the list or its length. */
  insert(index: number, item: T): void {
    if (this.pieces.length === 0) this.pieces.push([]);
    const { piece, within } = this.locate(index);
    const items = this.pieces[piece]!;
    items.splice(within, 0, item);
    if (items.length > pieceLengthMax) this.pieces.splice(piece + 1, 0, items.splice(pieceLengthMax / 2));
    this.length++;
  }

  /** Removes an item; `index` must be in the list. */
  remove(index: number): void {
    const { piece, within } = this.locate(index);
    this.pieces[piece]!.splice(within, 1);
    if (this.pieces[piece]!.length === 0) this.pieces.splice(piece, 1);
    this.length--;
  }

  toArray(): T[] {
    return ([] as T[]).concat(...this.pieces);
  }

  private locate(index: number): { piece: number; within: number } {
    const { pieces } = this;
    let piece = 0;
    let within = index;
    while (piece < pieces.length - 1 && within >= pieces[piece]!.length) within -= pieces[piece++]!.length;
    return { piece, within };
  }
}

import { randomFillSync, randomUUID } from 'node:crypto';
import { inOnePiece } from './in-one-piece.js';

/** The source of all randomness in the server, so that a seeded run is reproducible. */
export interface Rng {
  /** Returns an integer in [0, bound). */
  below(bound: number): number;
  uuid(): string;
}

const pool = new Uint32Array(256);
let used = pool.length;

export const systemRng: Rng = {
  below(bound) {
    if (used === pool.length) {
      randomFillSync(pool);
      used = 0;
    }
    return Math.floor((pool[used++]! / 0x1_0000_0000) * bound);
  },
  uuid: () => inOnePiece(randomUUID()),
};

/** mulberry32: small, fast and portable. */
export class SeededRng implements Rng {
  constructor(private state: number) {}
  below(bound: number): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 0x1_0000_0000) * bound);
  }
  uuid(): string {
    const hex = Array.from({ length: 32 }, () => this.below(16).toString(16)).join('');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
  }
}

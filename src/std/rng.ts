import { randomFillSync } from 'node:crypto';

/** The source of all randomness in the server, so that a seeded run is reproducible. */
export interface Rng {
  /** Returns an integer in [0, bound). */
  below(bound: number): number;
  uuid(): string;
}

/** Large, since a fill costs much the same whatever its size. */
const pool = new Uint32Array(4096);
let used = pool.length;

function random32(): number {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  return pool[used++]!;
}

/** Two digits for each byte. */
const hexDigits = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0')).join(''));
const uuidText = Buffer.from('00000000-0000-4000-8000-000000000000');

/** Writes the digits of one byte. Returns the position behind them. */
function writeByte(byte: number, at: number): number {
  uuidText[at] = hexDigits[2 * byte]!;
  uuidText[at + 1] = hexDigits[2 * byte + 1]!;
  return at + 2;
}

/** Writes the digits of an integer of 32 bits, with a hyphen in their middle if it is asked for. */
function writeWord(word: number, from: number, hyphen: 0 | 1): number {
  const middle = writeByte((word >>> 16) & 0xff, writeByte(word >>> 24, from)) + hyphen;
  return writeByte(word & 0xff, writeByte((word >>> 8) & 0xff, middle));
}

/** Returns a random UUID of version 4. randomUUID() joins it from many parts, which V8 joins again for each use as a header. */
function randomUuid(): string {
  let at = writeWord(random32(), 0, 0) + 1;
  at = writeWord((random32() & 0xffff_0fff) | 0x4000, at, 1) + 1;
  at = writeWord((random32() & 0x3fff_ffff) | 0x8000_0000, at, 1);
  writeWord(random32(), at, 0);
  return uuidText.toString('latin1');
}

export const systemRng: Rng = {
  below: (bound) => Math.floor((random32() / 0x1_0000_0000) * bound),
  uuid: randomUuid,
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

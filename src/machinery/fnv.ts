/** 64 bits as two integers, since a double holds only 53. */
export interface Hash64 {
  readonly high: number;
  readonly low: number;
}

/** The FNV prime is 2^40 plus this number, so a product is two small products and a shift. */
const primeLow = 0x1b3;
const limb = 2 ** 32;

/** FNV-1a of the UTF-8 bytes. Each limb times `primeLow` stays below 2^42. */
export function fnv1a64(text: string): Hash64 {
  let high = 0xcbf29ce4;
  let low = 0x84222325;
  for (const byte of Buffer.from(text)) {
    low = (low ^ byte) >>> 0;
    const product = low * primeLow;
    high = (high * primeLow + Math.floor(product / limb) + ((low << 8) >>> 0)) % limb;
    low = product % limb;
  }
  return { high, low };
}

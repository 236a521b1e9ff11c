/** Floats in the smallest of 2, 4 or 8 bytes that holds them exactly. */
const view = new DataView(new ArrayBuffer(8));

/** Returns the number as 16 bits; undefined if they cannot hold it. */
export function halfOf(value: number): number | undefined {
  if (Math.fround(value) !== value) return undefined;
  view.setFloat32(0, value);
  const bits = view.getUint32(0);
  const sign = (bits >>> 16) & 0x8000;
  const mantissa = bits & 0x7f_ffff;
  const exponent = ((bits >>> 23) & 0xff) - 127;
  if (value === 0) return sign;
  if (exponent >= -14 && exponent <= 15) {
    return (mantissa & 0x1fff) === 0 ? sign | ((exponent + 15) << 10) | (mantissa >>> 13) : undefined;
  }
  // Subnormal numbers have no leading one: the mantissa is shifted until the exponent is -14.
  const shift = -1 - exponent;
  if (exponent < -24 || exponent > 15 || ((mantissa | 0x80_0000) & ((1 << shift) - 1)) !== 0) return undefined;
  return sign | ((mantissa | 0x80_0000) >>> shift);
}

export function fromHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >>> 10) & 0x1f;
  const mantissa = bits & 0x3ff;
  if (exponent === 0) return sign * mantissa * 2 ** -24;
  if (exponent === 0x1f) return mantissa === 0 ? sign * Infinity : NaN;
  return sign * (1 + mantissa / 1024) * 2 ** (exponent - 15);
}

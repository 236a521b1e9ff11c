/** Formats scalars like Go: `1e-05` instead of `0.00001`. */
export function scalarText(value: string | number | bigint | boolean): string {
  return typeof value === 'number' ? numberText(value) : String(value);
}

/** Go uses at least two exponent digits, and exponents for smaller numbers. */
function numberText(value: number): string {
  const size = Math.abs(value);
  const text = size !== 0 && size < 1e-4 ? value.toExponential() : String(value);
  return text.replace(/e([+-])(\d)$/, 'e$10$2');
}

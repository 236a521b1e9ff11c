/** Numbers as Go prints them: `1e-05` where JavaScript has `0.00001`. Texts and truth values are the same. */
export function scalarText(value: string | number | bigint | boolean): string {
  return typeof value === 'number' ? numberText(value) : String(value);
}

/** Exponents have two digits at least, and are used sooner for what is small. */
function numberText(value: number): string {
  const size = Math.abs(value);
  const text = size !== 0 && size < 1e-4 ? value.toExponential() : String(value);
  return text.replace(/e([+-])(\d)$/, 'e$10$2');
}

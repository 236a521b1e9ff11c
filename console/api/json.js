// JSON without loss: integers that a double cannot hold become BigInt, and are written as they were read.

const isBig = (value, source) => typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source);

/** Matches where a number of 16 digits or more may be, in values and, rarely, in strings. */
const longNumber = /(?:^|[:,[])\s*-?\d{16}/;

/** Parses JSON. Browsers without access to the source text round large integers. */
export function parseJson(text) {
  if (!longNumber.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_key, value, context) =>
    context?.source !== undefined && isBig(value, context.source) ? BigInt(context.source) : value,
  );
}

export function printJson(value, indent) {
  try {
    return JSON.stringify(value, undefined, indent);
  } catch (error) {
    // Without a function for each value it is five times as fast, but refuses BigInt.
    if (!(error instanceof TypeError)) throw error;
  }
  return JSON.stringify(
    value,
    (_key, one) => (typeof one === 'bigint' ? (JSON.rawJSON?.(String(one)) ?? Number(one)) : one),
    indent,
  );
}

/** Returns the JSON value, or undefined if the text is not JSON. */
export function tryJson(text) {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

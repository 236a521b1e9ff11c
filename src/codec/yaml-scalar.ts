/**
 * Resolves plain YAML scalars as kube-apiserver's parser does: YAML 1.1 in general (`yes`, `on`, `0777`), with
 * exceptions (`1e3` is a string, `08` is eight). The writer uses it to decide which strings need quotes.
 */
export type PlainValue = string | number | bigint | boolean | null;

const words = new Map<string, PlainValue>();
for (const word of ['', '~', 'null', 'Null', 'NULL']) words.set(word, null);
for (const word of ['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON']) words.set(word, true);
for (const word of ['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF']) words.set(word, false);
for (const word of ['.nan', '.NaN', '.NAN']) words.set(word, NaN);
for (const word of ['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF']) words.set(word, Infinity);
for (const word of ['-.inf', '-.Inf', '-.INF']) words.set(word, -Infinity);

export function resolvePlain(text: string): PlainValue {
  const known = words.get(text);
  if (known !== undefined) return known;
  const first = text.charCodeAt(0);
  if (first === 0x2e) return /^\.[0-9]+([eE][-+]?[0-9]+)?$/.test(text) ? Number(text) : text;
  const isNumeric = (first >= 0x30 && first <= 0x39) || first === 0x2b || first === 0x2d;
  return isNumeric ? numberOf(text) : text;
}

/** Without ambiguity, so that matching takes linear time. */
const decimalPattern = /^[-+]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][-+][0-9]+)?$/;

function numberOf(text: string): PlainValue {
  const plain = text.includes('_') ? text.replaceAll('_', '') : text;
  const integer = integerOf(plain);
  if (integer !== undefined) return integer;
  return decimalPattern.test(plain) ? Number(plain) : text;
}

/** Returns a bigint if a double would lose digits that an int64 keeps. */
function integerOf(text: string): number | bigint | undefined {
  const match = /^([-+]?)(?:(0[xX][0-9a-fA-F]+)|(0[bB][01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))$/.exec(text);
  if (!match || text.length > 70) return undefined;
  const [, sign, hexadecimal, binary, octal, decimal] = match;
  const magnitude = BigInt(hexadecimal ?? binary ?? (octal === undefined ? decimal! : `0o${octal}`));
  const exact = sign === '-' ? -magnitude : magnitude;
  const number = Number(exact);
  if (Number.isSafeInteger(number)) return number;
  return BigInt.asIntN(64, exact) === exact ? exact : number;
}

/** True for timestamps, which are decoded as strings but must be quoted when written. */
export function looksLikeTime(text: string): boolean {
  return /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt ]+[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(\.[0-9]+)?\s*(Z|[-+][0-9]{2}(:[0-9]{2})?)?)?$/.test(
    text,
  );
}

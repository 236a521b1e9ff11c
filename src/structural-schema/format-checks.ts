import { isIPv4, isIPv6 } from 'node:net';

/** True for dates that exist: 2023-02-30 does not. */
export function isDay(text: string): boolean {
  const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
}

export function isTime(text: string): boolean {
  const match = /^(\d{4}-\d\d-\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/.exec(text);
  return match !== null && isDay(match[1]!) && match[2]! <= '23' && match[3]! <= '59' && match[4]! <= '59';
}

/** Removes leading zeros from the numbers of an IPv4 address, which older releases accepted. */
const withoutZeros = (text: string): string => text.replace(/(^|\.)0+(?=\d)/g, '$1');

export function isIpv4(text: string): boolean {
  return isIPv4(withoutZeros(text)) || (text.includes('.') && isIpv6(text));
}

export const isIpv6 = (text: string): boolean => isIPv6(text) && !text.includes('%');

export function isCidr(text: string): boolean {
  const match = /^([^/]+)\/(\d{1,3})$/.exec(text);
  if (!match) return false;
  const bits = Number(match[2]);
  return (isIPv4(withoutZeros(match[1]!)) && bits <= 32) || (isIpv6(match[1]!) && bits <= 128);
}

/** MAC addresses of 6, 8 or 20 bytes. */
export function isMac(text: string): boolean {
  const bytes = /^[0-9a-f]{2}(?:([:-])[0-9a-f]{2}(?:\1[0-9a-f]{2}){4,18})$/i.test(text) ? (text.length + 1) / 3 : 0;
  return [6, 8, 20].includes(bytes) || /^[0-9a-f]{4}(?:(?:\.[0-9a-f]{4}){2,3}|(?:\.[0-9a-f]{4}){9})$/i.test(text);
}

/** True for a request URI: an absolute URI, or an absolute path. */
export function isUri(text: string): boolean {
  if (/[\x00-\x1f\x7f]/.test(text)) return false;
  const [path = ''] = text.split('?', 1);
  if (/%(?![0-9A-Fa-f]{2})/.test(path)) return false;
  if (text === '*' || text.startsWith('/')) return true;
  const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:/.exec(text)?.[0];
  if (scheme === undefined) return false;
  const host = /^\/\/([^/?]*)/.exec(text.slice(scheme.length))?.[1] ?? '';
  return !/[\s"<>\\^`{|}]/.test(host);
}

const atoms = "[\\w!#$%&'*+/=?^`{|}~\\u0080-\\uffff-]+(?:\\.[\\w!#$%&'*+/=?^`{|}~\\u0080-\\uffff-]+)*";
const address = `(?:${atoms}|"(?:[^"\\\\\\r\\n]|\\\\.)*")@(?:${atoms}|\\[[^\\[\\]\\\\]*\\])`;

const emailPattern = new RegExp(`^(?:${address}|[^<>@"\\r\\n]*<${address}>)$`);

/** True for an email address, with or without a display name. */
export const isEmail = (text: string): boolean => emailPattern.test(text);

/** Names of duration units; the last one of each is a prefix (`secs`, `seconds`). */
const units = [
  ['ns', 'nano'],
  ['us', 'µs', 'micro'],
  ['ms', 'milli'],
  ['s', 'sec'],
  ['m', 'min'],
  ['h', 'hr', 'hour'],
  ['d', 'day'],
  ['w', 'wk', 'week'],
];
const amountMax = 2n ** 63n - 1n;
/** Longer numbers exceed every limit. */
const digitsMax = 400;

const isUnit = (word: string): boolean =>
  units.some((names) => names.includes(word) || word.startsWith(names[names.length - 1]!));

/** True for Go durations (`1.5h`), and for numbers with units anywhere in the text (`3 days and 2 hours`). */
export function isDuration(text: string): boolean {
  if (/^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/.test(text)) return true;
  let found = false;
  let from = 0;
  for (const { 0: word, index } of text.matchAll(/[A-Za-zµ]+/g)) {
    const digits = digitsBefore(text, from, index);
    from = index + word.length;
    if (digits === '') continue;
    if (digits.length > digitsMax || BigInt(digits) > amountMax) return false;
    found ||= isUnit(word.toLowerCase());
  }
  return found;
}

/** Returns the number that ends at `to`, ignoring spaces after it. */
function digitsBefore(text: string, from: number, to: number): string {
  let end = to;
  while (end > from && /\s/.test(text[end - 1]!)) end--;
  let start = end;
  while (start > from && /\d/.test(text[start - 1]!)) start--;
  return text.slice(start, end);
}

import { goQuote } from '../machinery/field-error.js';
import { ConformError } from './conform-error.js';

/** Durations as Go writes them: `90m` is `1h30m0s`, `1500us` is `1.5ms`. Nanoseconds in an int64. */
const nanosOf: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const nanosMax = 2n ** 63n - 1n;
/** Longer texts are not durations. */
const textLengthMax = 256;

export function canonicalDuration(text: string): string {
  return printed(durationNanos(text));
}

/** Returns the nanoseconds of a duration; throws ConformError with the message of Go's parser. */
export function durationNanos(text: string): bigint {
  const isNegative = text.startsWith('-');
  let rest = isNegative || text.startsWith('+') ? text.slice(1) : text;
  if (rest === '0') return 0n;
  if (rest === '' || text.length > textLengthMax) throw invalid(text);
  let nanos = 0n;
  while (rest !== '') {
    const [matched, whole = '', fraction = ''] = /^(\d*)(?:\.(\d*))?/.exec(rest)!;
    if (whole === '' && fraction === '') throw invalid(text);
    rest = rest.slice(matched.length);
    const unit = /^[^.\d]*/.exec(rest)![0];
    if (unit === '') throw new ConformError(`time: missing unit in duration ${goQuote(text)}`);
    const factor = Object.hasOwn(nanosOf, unit) ? nanosOf[unit]! : undefined;
    if (factor === undefined) {
      throw new ConformError(`time: unknown unit ${goQuote(unit)} in duration ${goQuote(text)}`);
    }
    rest = rest.slice(unit.length);
    nanos += BigInt(whole === '' ? '0' : whole) * factor;
    if (fraction !== '') nanos += (BigInt(fraction) * factor) / 10n ** BigInt(fraction.length);
    if (nanos > nanosMax + (isNegative ? 1n : 0n)) throw invalid(text);
  }
  return isNegative ? -nanos : nanos;
}

const invalid = (text: string): ConformError => new ConformError(`time: invalid duration ${goQuote(text)}`);

function printed(nanos: bigint): string {
  if (nanos === 0n) return '0s';
  const amount = nanos < 0n ? -nanos : nanos;
  const sign = nanos < 0n ? '-' : '';
  if (amount < nanosOf.us!) return `${sign}${amount}ns`;
  if (amount < nanosOf.ms!) return `${sign}${decimal(amount, 3)}µs`;
  if (amount < nanosOf.s!) return `${sign}${decimal(amount, 6)}ms`;
  const minutes = amount / nanosOf.m!;
  const secondsText = `${decimal(amount % nanosOf.m!, 9)}s`;
  if (minutes === 0n) return `${sign}${secondsText}`;
  const hours = minutes / 60n;
  return `${sign}${hours === 0n ? '' : `${hours}h`}${minutes % 60n}m${secondsText}`;
}

/** Writes `amount` with `places` decimal places and without trailing zeros. */
function decimal(amount: bigint, places: number): string {
  const text = String(amount).padStart(places + 1, '0');
  const fraction = text.slice(-places).replace(/0+$/, '');
  return text.slice(0, -places) + (fraction === '' ? '' : `.${fraction}`);
}

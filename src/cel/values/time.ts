import { daysOfMonth } from '../../std/civil-date.js';
import { spend, spendOnText, spendOnce } from '../work.js';
import { int64Max, int64Min, wholeNumber } from './numbers.js';
import { CelError, Duration, Timestamp } from './value.js';

/** Instants from year 1 to year 9999, and durations of Go. */
const secondsMin = -62135596800;
const secondsMax = 253402300799;
const second = 1_000_000_000n;

export const timestampOverflow = new CelError('timestamp overflow');
const intOverflow = new CelError('integer overflow');

export const isInTimestampRange = (seconds: number): boolean => seconds >= secondsMin && seconds <= secondsMax;

const secondsPerDay = 86_400;
/** Steps of reading a time or a duration, besides those for long texts. */
const readingSteps = 40;

/** Reads an RFC 3339 time; undefined for what is none. */
export function parseTimestamp(text: string): Timestamp | undefined {
  spend(readingSteps);
  if (text[4] !== '-' || text[7] !== '-' || text[10] !== 'T' || text[13] !== ':' || text[16] !== ':') return undefined;
  const days = daysFromCivil(digitsAt(text, 0, 4), digitsAt(text, 5, 2), digitsAt(text, 8, 2));
  const [hour, minute, secondOfMinute] = [digitsAt(text, 11, 2), digitsAt(text, 14, 2), digitsAt(text, 17, 2)];
  // A part that is not all digits is NaN.
  if (days === undefined || !(hour <= 23 && minute <= 59 && secondOfMinute <= 59)) return undefined;
  let end = 19;
  if (text[end] === '.' || text[end] === ',') {
    end++;
    while (isDigit(text.charCodeAt(end))) end++;
    if (end === 20) return undefined;
  }
  const offset = offsetSecondsOf(text, end);
  if (offset === undefined) return undefined;
  const nanos = end === 19 ? 0 : Number(text.slice(20, Math.min(end, 29)).padEnd(9, '0'));
  return new Timestamp(days * secondsPerDay + hour * 3600 + minute * 60 + secondOfMinute - offset, nanos, offset);
}

const isDigit = (unit: number): boolean => unit >= 0x30 && unit <= 0x39;

/** Reads a number of `count` digits; NaN if another character is among them. */
function digitsAt(text: string, from: number, count: number): number {
  let value = 0;
  for (let at = from; at < from + count; at++) {
    const unit = text.charCodeAt(at);
    if (!isDigit(unit)) return NaN;
    value = value * 10 + unit - 0x30;
  }
  return value;
}

/** Reads the zone that ends the text: `Z` or `+01:00`. */
function offsetSecondsOf(text: string, at: number): number | undefined {
  const sign = text[at];
  if (sign === 'Z') return text.length === at + 1 ? 0 : undefined;
  if ((sign !== '+' && sign !== '-') || text[at + 3] !== ':' || text.length !== at + 6) return undefined;
  const [hours, minutes] = [digitsAt(text, at + 1, 2), digitsAt(text, at + 4, 2)];
  if (!(hours <= 24 && minutes <= 60)) return undefined;
  return (sign === '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
}

/** Days since 1970-01-01; undefined if there is no such day. */
export function daysFromCivil(year: number, month: number, day: number): number | undefined {
  const last = daysOfMonth(year, month);
  if (Number.isNaN(year) || last === undefined || !(day >= 1 && day <= last)) return undefined;
  // Years begin in March here, so that the day that leap years have more is their last one.
  const marchYear = month > 2 ? year : year - 1;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const leapDays = Math.floor(marchYear / 4) - Math.floor(marchYear / 100) + Math.floor(marchYear / 400);
  return marchYear * 365 + leapDays + dayOfYear - 719_468;
}

/** The date and time as they are in the zone that is `offsetSeconds` east of UTC. */
export function dateIn(timestamp: Timestamp, offsetSeconds: number): Date {
  return new Date((timestamp.seconds + offsetSeconds) * 1000);
}

const two = (value: number): string => String(value).padStart(2, '0');

/** The time as RFC 3339 writes it, without zeros at the end of the fraction. */
export function formatTimestamp(timestamp: Timestamp): string {
  const date = dateIn(timestamp, timestamp.offsetSeconds);
  const year = String(date.getUTCFullYear()).padStart(4, '0');
  const fraction = timestamp.nanos === 0 ? '' : `.${String(timestamp.nanos).padStart(9, '0').replace(/0+$/, '')}`;
  const minutes = Math.trunc(Math.abs(timestamp.offsetSeconds) / 60);
  const zone =
    timestamp.offsetSeconds === 0
      ? 'Z'
      : `${timestamp.offsetSeconds < 0 ? '-' : '+'}${two(Math.trunc(minutes / 60))}:${two(minutes % 60)}`;
  const time = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())}`;
  return `${year}-${two(date.getUTCMonth() + 1)}-${two(date.getUTCDate())}T${time}${fraction}${zone}`;
}

const unitNanos: Record<string, bigint> = {
  ns: 1n,
  us: 1000n,
  '\u00b5s': 1000n,
  '\u03bcs': 1000n,
  ms: 1_000_000n,
  s: second,
  m: 60n * second,
  h: 3600n * second,
};

/** Reads a duration of Go: `1h30m`, `-1.5s`; undefined for what is none or does not fit. */
export function parseDuration(text: string): Duration | undefined {
  spend(readingSteps);
  const isNegative = text.startsWith('-');
  let rest = isNegative || text.startsWith('+') ? text.slice(1) : text;
  if (rest === '0') return new Duration(0n);
  if (rest === '') return undefined;
  let nanos = 0n;
  while (rest !== '') {
    const match = /^(\d*)(?:\.(\d*))?(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/.exec(rest);
    if (!match || (match[1] === '' && (match[2] ?? '') === '')) return undefined;
    const unit = unitNanos[match[3]!]!;
    const fraction = (match[2] ?? '').slice(0, 18);
    const whole = wholeNumber(match[1]!);
    if (whole === undefined) return undefined;
    nanos += whole * unit + (BigInt(fraction || '0') * unit) / 10n ** BigInt(fraction.length);
    if (nanos > int64Max + 1n) return undefined;
    rest = rest.slice(match[0].length);
  }
  if (isNegative) return new Duration(-nanos);
  return nanos > int64Max ? undefined : new Duration(nanos);
}

/** The seconds of a duration as a double, as Go computes them. */
export function durationSeconds(duration: Duration): number {
  return Number(duration.nanos / second) + Number(duration.nanos % second) / 1e9;
}

function checkedDuration(nanos: bigint): Duration | CelError {
  return nanos < int64Min || nanos > int64Max ? intOverflow : new Duration(nanos);
}
export const addDurations = (a: Duration, b: Duration): Duration | CelError => checkedDuration(a.nanos + b.nanos);
export const subtractDurations = (a: Duration, b: Duration): Duration | CelError => checkedDuration(a.nanos - b.nanos);
export const negateDuration = (a: Duration): Duration | CelError => checkedDuration(-a.nanos);

export function addToTimestamp(timestamp: Timestamp, nanos: bigint): Timestamp | CelError {
  const total = BigInt(timestamp.seconds) * second + BigInt(timestamp.nanos) + nanos;
  const remainder = ((total % second) + second) % second;
  const seconds = Number((total - remainder) / second);
  if (!isInTimestampRange(seconds)) return timestampOverflow;
  return new Timestamp(seconds, Number(remainder), timestamp.offsetSeconds);
}

export function subtractFromTimestamp(timestamp: Timestamp, duration: Duration): Timestamp | CelError {
  if (duration.nanos === int64Min) return intOverflow;
  return addToTimestamp(timestamp, -duration.nanos);
}

export function subtractTimestamps(left: Timestamp, right: Timestamp): Duration | CelError {
  const seconds = BigInt(left.seconds - right.seconds) * second;
  if (seconds < int64Min || seconds > int64Max) return intOverflow;
  return checkedDuration(seconds + BigInt(left.nanos - right.nanos));
}

export const compareTimestamps = (left: Timestamp, right: Timestamp): number =>
  Math.sign(left.seconds - right.seconds || left.nanos - right.nanos);

/** The seconds that the zone is east of UTC at the instant; CelError if there is no such zone. */
export function zoneOffset(timestamp: Timestamp, zone: string): number | CelError {
  spendOnText(zone, 0.005);
  const colon = zone.indexOf(':');
  if (colon >= 0) {
    const hours = atoi(zone.slice(0, colon));
    if (hours instanceof CelError) return hours;
    const minutes = atoi(zone.slice(colon + 1));
    if (minutes instanceof CelError) return minutes;
    return (hours * 60 + (zone.startsWith('-') ? -minutes : minutes)) * 60;
  }
  if (zone === '' || zone === 'UTC') return 0;
  spend(500);
  const format = formatIn(zone);
  if (!format) return new CelError(`unknown time zone ${zone}`);
  const parts = new Map(format.formatToParts(timestamp.seconds * 1000).map(({ type, value }) => [type, value]));
  const number = (type: string): number => Number(parts.get(type as Intl.DateTimeFormatPartTypes));
  const year = parts.get('era') === 'BC' ? 1 - number('year') : number('year');
  const days = daysFromCivil(year, number('month'), number('day')) ?? 0;
  return days * 86400 + number('hour') * 3600 + number('minute') * 60 + number('second') - timestamp.seconds;
}

const zoneLengthMax = 64;
/** Formats of the zones in use, since creating one takes 0.2 ms. */
const formats = new Map<string, Intl.DateTimeFormat | undefined>();
const formatsMax = 200;

function formatIn(zone: string): Intl.DateTimeFormat | undefined {
  if (zone.length > zoneLengthMax) return undefined;
  spendOnce('time zone', zone, 20_000);
  if (formats.has(zone)) return formats.get(zone);
  if (formats.size >= formatsMax) formats.clear();
  const format = newFormat(zone);
  formats.set(zone, format);
  return format;
}

function newFormat(zone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
      era: 'short',
    });
  } catch {
    return undefined;
  }
}

function atoi(text: string): number | CelError {
  if (/^[+-]?\d{1,9}$/.test(text)) return Number(text);
  return new CelError(`strconv.Atoi: parsing "${text}": invalid syntax`);
}

import { DecodeError } from '../std/decode-error.js';

/** Times have years 1 to 9999. Go's zero time is the first second of year 1. */
export const zeroTimeSeconds = -62_135_596_800;
const secondsMax = 253_402_300_799;

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

/** Returns seconds since 1970 without the fraction; undefined for an invalid time. */
export function secondsOf(text: string): number | undefined {
  if (!rfc3339.test(text)) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1000);
}

/** Returns the fraction of a time that secondsOf() accepts. */
export function microsecondsOf(text: string): number {
  const at = text.indexOf('.');
  if (at < 0) return 0;
  const digits = /^\d{1,6}/.exec(text.slice(at + 1))?.[0] ?? '';
  return Number(digits.padEnd(6, '0'));
}

/** Formats a time with whole seconds, or with microseconds if `micro`. */
export function timeText(seconds: number | bigint, nanos: number, micro: boolean): string {
  if (typeof seconds !== 'number' || seconds < zeroTimeSeconds || seconds > secondsMax) {
    throw new DecodeError(`a time of ${seconds} seconds is out of range`);
  }
  const day = Math.floor(seconds / daySeconds);
  const second = seconds - day * daySeconds;
  const time = `${two(second / 3600)}:${two((second / 60) % 60)}:${two(second % 60)}`;
  if (!micro) return `${dateText(day)}T${time}Z`;
  if (nanos < 0 || nanos > 999_999_999) throw new DecodeError(`a time of ${nanos} nanoseconds is out of range`);
  return `${dateText(day)}T${time}.${String(Math.floor(nanos / 1000)).padStart(6, '0')}Z`;
}

const daySeconds = 86_400;
const twoDigits: readonly string[] = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));
const two = (number: number): string => twoDigits[number | 0]!;

// Cached: most times of an object, and of many objects, are on the same day.
let lastDay = 0;
let lastDate = '1970-01-01';

function dateText(day: number): string {
  if (day !== lastDay) {
    lastDate = new Date(day * daySeconds * 1000).toISOString().slice(0, 10);
    lastDay = day;
  }
  return lastDate;
}

import { isLeapYear } from '../../std/civil-date.js';
import type { FunctionDeclaration } from '../check/declarations.js';
import { declare, member } from '../check/declarations.js';
import { types } from '../types.js';
import { dateIn, zoneOffset } from '../values/time.js';
import type { Value } from '../values/value.js';
import { CelError, Duration, Timestamp, orNoSuchOverload } from '../values/value.js';

const { duration, int, string, timestamp } = types;

/** A part of a date: with a time zone as the argument, or in UTC. */
function datePart(
  name: string,
  id: string,
  part: (date: Date, timestamp: Timestamp) => number,
  ofDuration?: [id: string, unit: bigint],
): FunctionDeclaration {
  const read = (value: Value | undefined, zone: Value): Value => {
    if (!(value instanceof Timestamp)) return orNoSuchOverload(value!);
    if (typeof zone !== 'string') return orNoSuchOverload(zone);
    const offset = zoneOffset(value, zone);
    return offset instanceof CelError ? offset : part(dateIn(value, offset), value);
  };
  const overloads = [
    member(id, [timestamp], int, (value) => read(value, 'UTC')),
    member(`${id}_with_tz`, [timestamp, string], int, (value, zone) => read(value, zone)),
  ];
  if (ofDuration) {
    const [durationId, unit] = ofDuration;
    const whole = (value: Value | undefined): Value =>
      value instanceof Duration ? Number(value.nanos / unit) : orNoSuchOverload(value!);
    overloads.push(member(durationId, [duration], int, whole));
  }
  return declare(name, ...overloads);
}

const dayOfYear = (date: Date): number =>
  Math.round((Date.UTC(2000, date.getUTCMonth(), date.getUTCDate()) - Date.UTC(2000, 0, 1)) / 86_400_000) -
  (date.getUTCMonth() > 1 && !isLeapYear(date.getUTCFullYear()) ? 1 : 0);

export const timeFunctions: readonly FunctionDeclaration[] = [
  datePart('getFullYear', 'timestamp_to_year', (date) => date.getUTCFullYear()),
  datePart('getMonth', 'timestamp_to_month', (date) => date.getUTCMonth()),
  datePart('getDayOfYear', 'timestamp_to_day_of_year', dayOfYear),
  datePart('getDayOfMonth', 'timestamp_to_day_of_month', (date) => date.getUTCDate() - 1),
  datePart('getDate', 'timestamp_to_day_of_month_1_based', (date) => date.getUTCDate()),
  datePart('getDayOfWeek', 'timestamp_to_day_of_week', (date) => date.getUTCDay()),
  datePart('getHours', 'timestamp_to_hours', (date) => date.getUTCHours(), ['duration_to_hours', 3_600_000_000_000n]),
  datePart('getMinutes', 'timestamp_to_minutes', (date) => date.getUTCMinutes(), [
    'duration_to_minutes',
    60_000_000_000n,
  ]),
  datePart('getSeconds', 'timestamp_to_seconds', (date) => date.getUTCSeconds(), [
    'duration_to_seconds',
    1_000_000_000n,
  ]),
  datePart('getMilliseconds', 'timestamp_to_milliseconds', (_, { nanos }) => Math.trunc(nanos / 1e6), [
    'duration_to_milliseconds',
    1_000_000n,
  ]),
];

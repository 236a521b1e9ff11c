import type { CelType } from '../types.js';
import { types } from '../types.js';
import {
  checkedInt,
  checkedUint,
  doubleToInt,
  doubleToUint,
  formatDouble,
  int64Max,
  int64Min,
  isInt,
  parseDouble,
  plainDecimal,
  uint64Max,
  wholeNumber,
} from './numbers.js';
import { decodeUtf8, encodeUtf8 } from './texts.js';
import {
  durationSeconds,
  formatTimestamp,
  isInTimestampRange,
  parseDuration,
  parseTimestamp,
  timestampOverflow,
} from './time.js';
import { spendOnText } from '../work.js';
import type { Value } from './value.js';
import { CelError, Double, Duration, Timestamp, Uint, typeOf } from './value.js';

/** Converts a value to another type, as `int(x)` and `string(x)` do. */
export function convert(value: Value, target: CelType): Value {
  if (typeof value === 'string' && target !== types.string) spendOnText(value, target === types.duration ? 10 : 1);
  return converted(value, target) ?? failure(value, target);
}

function failure(value: Value, target: CelType): CelError {
  return new CelError(`type conversion error from '${typeOf(value).name}' to '${target.name}'`);
}

function converted(value: Value, target: CelType): Value | undefined {
  switch (target) {
    case types.int:
      return toInt(value);
    case types.uint:
      return toUint(value);
    case types.double:
      return toDouble(value);
    case types.string:
      return toText(value);
    case types.bytes:
      return value instanceof Uint8Array ? value : typeof value === 'string' ? encodeUtf8(value) : undefined;
    case types.bool:
      return toBool(value);
    case types.duration:
      return value instanceof Duration ? value : typeof value === 'string' ? parseDuration(value) : undefined;
    case types.timestamp:
      return toTimestamp(value);
    default:
      return undefined;
  }
}

function toInt(value: Value): Value | undefined {
  if (isInt(value)) return value;
  if (value instanceof Uint) return checkedInt(value.value);
  if (value instanceof Double) return doubleToInt(value.value);
  if (value instanceof Timestamp) return value.seconds;
  if (value instanceof Duration) return checkedInt(value.nanos);
  if (typeof value !== 'string' || !/^[+-]?\d+$/.test(value)) return undefined;
  const magnitude = wholeNumber(value.replace(/^[+-]/, ''));
  if (magnitude === undefined) return undefined;
  const parsed = value.startsWith('-') ? -magnitude : magnitude;
  return parsed < int64Min || parsed > int64Max ? undefined : checkedInt(parsed);
}

function toUint(value: Value): Value | undefined {
  if (value instanceof Uint) return value;
  if (isInt(value)) return checkedUint(BigInt(value));
  if (value instanceof Double) return doubleToUint(value.value);
  if (typeof value !== 'string' || !/^\d+$/.test(value)) return undefined;
  const parsed = wholeNumber(value);
  return parsed === undefined || parsed > uint64Max ? undefined : new Uint(parsed);
}

function toDouble(value: Value): Value | undefined {
  if (value instanceof Double) return value;
  if (isInt(value) || value instanceof Uint) return new Double(Number(isInt(value) ? value : value.value));
  if (typeof value !== 'string') return undefined;
  const parsed = parseDouble(value);
  return parsed === undefined ? undefined : new Double(parsed);
}

function toText(value: Value): Value | undefined {
  if (typeof value === 'string') return value;
  if (isInt(value) || typeof value === 'boolean') return String(value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Double) return formatDouble(value.value);
  if (value instanceof Uint8Array)
    return decodeUtf8(value) ?? new CelError('invalid UTF-8 in bytes, cannot convert to string');
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return `${plainDecimal(durationSeconds(value))}s`;
  return undefined;
}

function toBool(value: Value): Value | undefined {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string') return undefined;
  if (['1', 't', 'T', 'true', 'TRUE', 'True'].includes(value)) return true;
  return ['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(value) ? false : undefined;
}

function toTimestamp(value: Value): Value | undefined {
  if (value instanceof Timestamp) return value;
  if (isInt(value)) return isInTimestampRange(Number(value)) ? new Timestamp(Number(value), 0) : timestampOverflow;
  if (typeof value !== 'string') return undefined;
  const parsed = parseTimestamp(value);
  return parsed && !isInTimestampRange(parsed.seconds) ? timestampOverflow : parsed;
}

/** The value as error messages show it. */
export function display(value: Value): string {
  const text = toText(value);
  if (typeof text === 'string') return text;
  if (value === null) return 'null';
  return typeOf(value).name;
}

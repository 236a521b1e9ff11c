import { ConformError } from '../../typed/conform-error.js';
import { durationNanos } from '../../typed/go-duration.js';

/**
 * Validates a cron schedule: five fields (minute, hour, day of month, month, day of week), a descriptor as `@daily`, or
 * `@every 90m`. Returns the error in the words of kube-apiserver, or undefined if the schedule is valid.
 */
export function scheduleProblem(text: string): string | undefined {
  if (text === '') return 'empty spec string';
  let schedule = text;
  if (/^(?:TZ|CRON_TZ)=/.test(text)) {
    const space = text.indexOf(' ');
    if (space < 0) return `provided bad location ${text.slice(text.indexOf('=') + 1)}: missing schedule`;
    const zone = text.slice(text.indexOf('=') + 1, space);
    if (!isTimeZone(zone)) return `provided bad location ${zone}: unknown time zone ${zone}`;
    schedule = text.slice(space).trim();
  }
  if (schedule.startsWith('@')) return descriptorProblem(schedule);
  const fields = schedule.split(/\s+/).filter((field) => field !== '');
  if (fields.length !== bounds.length) {
    return `expected exactly ${bounds.length} fields, found ${fields.length}: [${fields.join(' ')}]`;
  }
  return firstProblem(fields, (field, index) => fieldProblem(field, bounds[index]!));
}

/** Longer than any name in the time zone database. */
const zoneLengthMax = 256;

/** True if the time zone database of Node.js has a zone of this name. `Local` is none. */
export function isTimeZone(name: string): boolean {
  if (
    name.length > zoneLengthMax ||
    name.split('/').some((part) => !/^[A-Za-z._\-0-9+]{1,14}$/.test(part) || part === '..')
  )
    return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names: readonly string[];
}

const months = ['', 'jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const bounds: readonly Bounds[] = [
  { min: 0, max: 59, names: [] },
  { min: 0, max: 23, names: [] },
  { min: 1, max: 31, names: [] },
  { min: 1, max: 12, names: months },
  { min: 0, max: 6, names: days },
];

const descriptors = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];
const every = '@every ';

function descriptorProblem(text: string): string | undefined {
  if (descriptors.includes(text)) return undefined;
  if (!text.startsWith(every)) return `unrecognized descriptor: ${text}`;
  const problem = durationProblem(text.slice(every.length));
  return problem === undefined ? undefined : `failed to parse duration ${text}: ${problem}`;
}

function durationProblem(text: string): string | undefined {
  try {
    durationNanos(text);
    return undefined;
  } catch (error) {
    if (error instanceof ConformError) return error.message;
    throw error;
  }
}

function firstProblem<T>(
  list: readonly T[],
  problemOf: (item: T, index: number) => string | undefined,
): string | undefined {
  for (const [index, item] of list.entries()) {
    const problem = problemOf(item, index);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Validates one field, a list of ranges: `1,3-5,*\/15`. */
function fieldProblem(field: string, limits: Bounds): string | undefined {
  const valid = new Set(['']);
  for (let start = 0; start <= field.length;) {
    const comma = field.indexOf(',', start);
    const end = comma < 0 ? field.length : comma;
    const range = field.slice(start, end);
    // A field of millions of ranges repeats a few.
    if (!valid.has(range)) {
      const problem = rangeProblem(range, limits);
      if (problem !== undefined) return problem;
      valid.add(range);
    }
    start = end + 1;
  }
  return undefined;
}

function rangeProblem(text: string, limits: Bounds): string | undefined {
  const [range = '', stepText, ...tooMany] = text.split('/');
  const ends = range.split('-');
  const isSingle = ends.length === 1;
  let start = limits.min;
  let end = limits.max;
  if (ends[0] !== '*' && ends[0] !== '?') {
    if (ends.length > 2) return `too many hyphens: ${text}`;
    const numbers = ends.map((one) => numberOf(one, limits.names));
    for (const number of numbers) if (typeof number === 'string') return number;
    [start, end] = [numbers[0] as number, numbers.at(-1) as number];
  }
  let step = 1;
  if (tooMany.length > 0) return `too many slashes: ${text}`;
  if (stepText !== undefined) {
    const parsed = numberOf(stepText, []);
    if (typeof parsed === 'string') return parsed;
    step = parsed;
    // `5/15` is the range from 5 to the maximum.
    if (isSingle) end = limits.max;
  }
  if (start < limits.min) return `beginning of range (${start}) below minimum (${limits.min}): ${text}`;
  if (end > limits.max) return `end of range (${end}) above maximum (${limits.max}): ${text}`;
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${text}`;
  return step === 0 ? `step of range should be a positive number: ${text}` : undefined;
}

/** Returns the number, or the error. */
function numberOf(text: string, names: readonly string[]): number | string {
  const named = text === '' ? -1 : names.indexOf(text.toLowerCase());
  if (named >= 0) return named;
  if (!/^[-+]?[0-9]+$/.test(text)) {
    return `failed to parse int from ${text}: strconv.Atoi: parsing "${text}": invalid syntax`;
  }
  const number = Number(text);
  return number < 0 ? `negative number (${number}) not allowed: ${text}` : number;
}

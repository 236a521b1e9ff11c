import { shortenedValue } from '../machinery/go-quote.js';
import { ConformError } from './conform-error.js';
import { isUsualMicroTime, isUsualTime } from './fits.js';

/**
 * Times as Go decodes and encodes them: RFC 3339, in UTC when encoded. As lenient as Go's layouts, with the same
 * errors: an hour may have one digit, and a fraction that the layout does not have is cut off.
 */
interface Layout {
  readonly text: string;
  readonly parts: readonly Part[];
  /** Digits of the fraction; a layout without them accepts any number. */
  readonly fractionDigits: number;
}
interface Part {
  readonly before: string;
  readonly element: string;
}

const dateAndTime: readonly Part[] = [
  { before: '', element: '2006' },
  { before: '-', element: '01' },
  { before: '-', element: '02' },
  { before: 'T', element: '15' },
  { before: ':', element: '04' },
  { before: ':', element: '05' },
];
const zone: Part = { before: '', element: 'Z07:00' };
const seconds: Layout = { text: '2006-01-02T15:04:05Z07:00', parts: [...dateAndTime, zone], fractionDigits: 0 };
const microseconds: Layout = {
  text: '2006-01-02T15:04:05.000000Z07:00',
  parts: [...dateAndTime, { before: '', element: '.000000' }, zone],
  fractionDigits: 6,
};

/** `2006-01-02T15:04:05Z`, or null for the zero time. */
export function canonicalTime(text: string): string | null {
  if (isUsualTime(text)) return text;
  const time = parse(text, seconds);
  return isZero(time) ? null : `${printed(time)}Z`;
}

/** `2006-01-02T15:04:05.000000Z` */
export function canonicalMicroTime(text: string): string | null {
  if (isUsualMicroTime(text)) return text;
  const time = parse(text, microseconds);
  return isZero(time) ? null : `${printed(time)}.${String(time.nanos / 1000).padStart(6, '0')}Z`;
}

interface Time {
  /** Milliseconds since 1970, without the fraction of a second. */
  readonly millis: number;
  readonly nanos: number;
}

const isZero = (time: Time): boolean => time.nanos === 0 && time.millis === -62_135_596_800_000;

function printed({ millis }: Time): string {
  const date = new Date(millis);
  const year = date.getUTCFullYear();
  const digits = String(Math.abs(year)).padStart(4, '0');
  return `${year < 0 ? '-' : ''}${digits}${date.toISOString().slice(-20, -5)}`;
}

function parse(text: string, layout: Layout): Time {
  const reading = new Reading(text, layout);
  for (const part of layout.parts) reading.part(part);
  return reading.time();
}

class Reading {
  private rest: string;
  private year = 0;
  private month = 0;
  private day = 0;
  private hour = 0;
  private minute = 0;
  private second = 0;
  private nanos = 0;
  private offsetMinutes = 0;

  constructor(
    private readonly text: string,
    private readonly layout: Layout,
  ) {
    this.rest = text;
  }

  part({ before, element }: Part): void {
    if (before !== '') {
      if (!this.rest.startsWith(before)) this.fail(this.rest, before);
      this.rest = this.rest.slice(before.length);
    }
    const from = this.rest;
    if (!this.read(element)) this.fail(from, element);
  }

  time(): Time {
    if (this.rest !== '') this.refuse(`: extra text: ${quoted(this.rest)}`);
    const date = new Date(0);
    date.setUTCFullYear(this.year, this.month, 0);
    if (this.day < 1 || this.day > date.getUTCDate()) this.refuse(': day out of range');
    date.setUTCFullYear(this.year, this.month - 1, this.day);
    date.setUTCHours(this.hour, this.minute, this.second);
    return { millis: date.getTime() - this.offsetMinutes * 60_000, nanos: this.nanos };
  }

  private read(element: string): boolean {
    switch (element) {
      case '2006':
        return this.take(/^\d{4}/, ([digits]) => (this.year = Number(digits)));
      case '01':
        return this.take(/^\d\d/, ([digits]) => {
          this.month = this.inRange('month', Number(digits), 1, 12);
        });
      case '02':
        return this.take(/^\d\d/, ([digits]) => (this.day = Number(digits)));
      case '15':
        return this.take(/^\d\d?/, ([digits]) => {
          this.hour = this.inRange('hour', Number(digits), 0, 23);
        });
      case '04':
        return this.take(/^\d\d/, ([digits]) => {
          this.minute = this.inRange('minute', Number(digits), 0, 59);
        });
      case '05':
        return this.readSecond();
      case '.000000':
        return this.take(/^[.,](\d{6})/, ([, digits]) => (this.nanos = Number(digits) * 1000));
      default:
        return this.readZone();
    }
  }

  private readSecond(): boolean {
    const found = this.take(/^\d\d/, ([digits]) => {
      this.second = this.inRange('second', Number(digits), 0, 59);
    });
    if (found && this.layout.fractionDigits === 0) {
      this.take(/^[.,](\d+)/, ([, digits = '']) => (this.nanos = Number(digits.slice(0, 9).padEnd(9, '0'))));
    }
    return found;
  }

  private readZone(): boolean {
    if (this.take(/^Z/, () => undefined)) return true;
    return this.take(/^([+-])(\d\d):(\d\d)/, ([, sign, hours, minutes]) => {
      const offset =
        this.inRange('time zone offset hour', Number(hours), 0, 24) * 60 +
        this.inRange('time zone offset minute', Number(minutes), 0, 60);
      this.offsetMinutes = sign === '-' ? -offset : offset;
    });
  }

  private take(pattern: RegExp, use: (found: RegExpExecArray) => void): boolean {
    const found = pattern.exec(this.rest);
    if (!found) return false;
    this.rest = this.rest.slice(found[0].length);
    use(found);
    return true;
  }

  private inRange(what: string, value: number, min: number, max: number): number {
    if (value < min || value > max) this.refuse(`: ${what} out of range`);
    return value;
  }

  private fail(from: string, element: string): never {
    const whole = quoted(this.text);
    const rest = from === this.text ? whole : quoted(from);
    throw new ConformError(
      `parsing time ${whole} as ${quoted(this.layout.text)}: cannot parse ${rest} as ${quoted(element)}`,
    );
  }

  private refuse(why: string): never {
    throw new ConformError(`parsing time ${quoted(this.text)}${why}`);
  }
}

/** Matches what is not quoted as it is: quotes, backslashes and bytes that are not printable ASCII. */
const special = /[^ !#-[\]-~\x7f]/;
const hexDigits = Buffer.from('0123456789abcdef');

/** Quotes a text as Go does, with bytes that are not printable ASCII in hex. */
function quoted(whole: string): string {
  const text = shortenedValue(whole);
  if (!special.test(text)) return `"${text}"`;
  const bytes = Buffer.from(text);
  const out = Buffer.allocUnsafe(4 * bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    const isHex = byte < 0x20 || byte >= 0x80;
    if (isHex || byte === 0x22 || byte === 0x5c) out[length++] = 0x5c;
    if (!isHex) out[length++] = byte;
    else {
      out[length++] = 0x78;
      out[length++] = hexDigits[byte >> 4]!;
      out[length++] = hexDigits[byte & 15]!;
    }
  }
  return `"${out.toString('latin1', 0, length)}"`;
}

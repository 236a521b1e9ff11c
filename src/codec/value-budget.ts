import { ApiError } from '../machinery/api-error.js';

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const comma = 0x2c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const nothing = 0;

/** Apply adds up to two values of managedFields for each value of an object: the field, and the `.` of a map. */
const managedFieldsPerValue = 2;

/** Limit on the values in metadata.managedFields, in addition to the other values. */
export const managedFieldsValuesMax = (valuesMax: number): number => managedFieldsPerValue * valuesMax;

/**
 * Limits the values of one body: objects, lists and scalars. A body of 3 MiB can have a million values, and every step
 * of a request visits each of them: the cost of a body is its values, not its bytes. Values of metadata.managedFields
 * have a limit of their own, since the server computes them and clients write them back. Throws ApiError (413).
 */
export class ValueBudget {
  private left: number;
  private leftOfOther: number;
  private isInManagedFields = false;

  constructor(private readonly max: number) {
    this.left = max;
    this.leftOfOther = managedFieldsValuesMax(max);
  }

  take(count = 1): void {
    this.left -= count;
    if (this.left < 0) throw tooManyValues(this.max, this.isInManagedFields);
  }

  /** Counts the following values as those of metadata.managedFields. Returns false if it already does. */
  enterManagedFields(): boolean {
    if (this.isInManagedFields) return false;
    this.swap();
    return true;
  }

  leaveManagedFields(): void {
    this.swap();
  }

  /**
   * Counts the values of a JSON text without parsing it. Text that is not JSON is counted approximately, and refused
   * later.
   */
  takeJson(bytes: Uint8Array): void {
    if (this.max === Infinity) return;
    // Shortcut: a value takes at least one character, and one to separate it.
    if (this.left === this.max && bytes.length <= 2 * this.max) return;
    this.take();
    let before = nothing;
    let depth = 0;
    let isMetadata = false;
    let hasEntered = false;
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (byte <= 0x20) continue;
      if ((before === openBrace && byte !== closeBrace) || (before === openBracket && byte !== closeBracket))
        this.take();
      before = byte;
      if (byte === quote) {
        const start = at + 1;
        at = endOfString(bytes, start);
        if (depth === 1) isMetadata = holdsText(bytes, start, at, metadata);
        else if (depth === 2 && isMetadata && holdsText(bytes, start, at, managedFields) && isKey(bytes, at))
          hasEntered ||= this.enterManagedFields();
      } else if (byte === comma) {
        if (hasEntered && depth === 2) {
          this.leaveManagedFields();
          hasEntered = false;
        }
        this.take();
      } else if (byte === openBrace || byte === openBracket) depth++;
      else if (byte === closeBrace || byte === closeBracket) {
        if (--depth < 2 && hasEntered) {
          this.leaveManagedFields();
          hasEntered = false;
        }
      }
    }
    if (hasEntered) this.leaveManagedFields();
  }

  private swap(): void {
    [this.left, this.leftOfOther] = [this.leftOfOther, this.left];
    this.isInManagedFields = !this.isInManagedFields;
  }
}

/** True if a JSON text has more values than a limit. Counts without parsing the text. */
export function hasMoreJsonValues(bytes: Uint8Array, max: number): boolean {
  try {
    new ValueBudget(max).takeJson(bytes);
    return false;
  } catch (error) {
    if (error instanceof ApiError) return true;
    throw error;
  }
}

export function tooManyValues(valuesMax: number, isInManagedFields: boolean): ApiError {
  const limit = isInManagedFields
    ? `${managedFieldsValuesMax(valuesMax)} values in metadata.managedFields`
    : `${valuesMax} values`;
  return ApiError.requestEntityTooLarge(`Request entity too large: limit is ${limit}`);
}

const metadata = Buffer.from('metadata');
const managedFields = Buffer.from('managedFields');

function holdsText(bytes: Uint8Array, start: number, end: number, text: Uint8Array): boolean {
  if (end - start !== text.length) return false;
  for (let index = 0; index < text.length; index++) if (bytes[start + index] !== text[index]) return false;
  return true;
}

/** True if a colon follows the string that ends at `closingQuote`. */
function isKey(bytes: Uint8Array, closingQuote: number): boolean {
  let at = closingQuote + 1;
  while (at < bytes.length && bytes[at]! <= 0x20) at++;
  return bytes[at] === colon;
}

function endOfString(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at;
}

import { spend } from '../work.js';
import type { Value } from './value.js';
import { CelError, Double, Uint } from './value.js';

/** A 64-bit integer: a number where that is exact, else a bigint. */
export type Int = number | bigint;

export const int64Min = -(2n ** 63n);
export const int64Max = 2n ** 63n - 1n;
export const uint64Max = 2n ** 64n - 1n;
const safe = BigInt(Number.MAX_SAFE_INTEGER);

const intOverflow = new CelError('integer overflow');
const uintOverflow = new CelError('unsigned integer overflow');
const divisionByZero = new CelError('division by zero');
const modulusByZero = new CelError('modulus by zero');

/** The integer in its one representation; it must fit in 64 bits. */
export const int = (value: bigint): Int => (value >= -safe && value <= safe ? Number(value) : value);
export const isInt = (value: Value): value is Int => typeof value === 'number' || typeof value === 'bigint';

export function checkedInt(value: bigint): Int | CelError {
  return value < int64Min || value > int64Max ? intOverflow : int(value);
}
export function checkedUint(value: bigint): Uint | CelError {
  return value < 0n || value > uint64Max ? uintOverflow : new Uint(value);
}

export type Operator = '+' | '-' | '*' | '/' | '%';

export function intArithmetic(operator: Operator, left: Int, right: Int): Int | CelError {
  if (typeof left === 'number' && typeof right === 'number') {
    if (operator === '+' || operator === '-' || operator === '*') {
      const result = operator === '+' ? left + right : operator === '-' ? left - right : left * right;
      if (Number.isSafeInteger(result)) return result === 0 ? 0 : result;
    } else {
      if (right === 0) return operator === '/' ? divisionByZero : modulusByZero;
      const result = operator === '/' ? Math.trunc(left / right) : left % right;
      // The quotient of two large numbers may be rounded up.
      if (operator === '%' || Math.abs(left) < 2 ** 50) return result === 0 ? 0 : result;
    }
  }
  const a = BigInt(left);
  const b = BigInt(right);
  switch (operator) {
    case '+':
      return checkedInt(a + b);
    case '-':
      return checkedInt(a - b);
    case '*':
      return checkedInt(a * b);
    case '/':
      return b === 0n ? divisionByZero : checkedInt(a / b);
    case '%':
      if (b === 0n) return modulusByZero;
      return a === int64Min && b === -1n ? intOverflow : int(a % b);
  }
}

export function uintArithmetic(operator: Operator, left: bigint, right: bigint): Uint | CelError {
  switch (operator) {
    case '+':
      return checkedUint(left + right);
    case '-':
      return checkedUint(left - right);
    case '*':
      return checkedUint(left * right);
    case '/':
      return right === 0n ? divisionByZero : new Uint(left / right);
    case '%':
      return right === 0n ? modulusByZero : new Uint(left % right);
  }
}

export function doubleArithmetic(operator: '+' | '-' | '*' | '/', left: number, right: number): Double {
  switch (operator) {
    case '+':
      return new Double(left + right);
    case '-':
      return new Double(left - right);
    case '*':
      return new Double(left * right);
    case '/':
      return new Double(left / right);
  }
}

export function negateInt(value: Int): Int | CelError {
  if (typeof value === 'number') return value === 0 ? 0 : -value;
  return checkedInt(-value);
}

export function doubleToInt(value: number): Int | CelError {
  if (!Number.isFinite(value) || value <= -(2 ** 63) || value >= 2 ** 63) return intOverflow;
  return int(BigInt(Math.trunc(value)));
}
export function doubleToUint(value: number): Uint | CelError {
  if (!Number.isFinite(value) || value < 0 || value >= 2 ** 64) return uintOverflow;
  return new Uint(BigInt(Math.trunc(value)));
}

/** The number behind an int, a uint or a double; undefined for others. */
export function numeric(value: Value): number | bigint | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  if (value instanceof Double || value instanceof Uint) return value.value;
  return undefined;
}

/** Compares numbers of whichever type; a double is compared with the double next to a 64-bit integer. */
export function compareNumbers(left: Value, right: Value): -1 | 0 | 1 {
  let a = numeric(left)!;
  let b = numeric(right)!;
  if (left instanceof Double && typeof b === 'bigint') b = Number(b);
  if (right instanceof Double && typeof a === 'bigint') a = Number(a);
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The shortest decimal text, as Go's %g writes it: an exponent of two digits from 1e+06 and below 1e-4. */
export function formatDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (Object.is(value, -0)) return '-0';
  if (value === 0) return '0';
  spend(20);
  const [mantissa, power] = value.toExponential().split('e') as [string, string];
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 6) return plainDecimal(value);
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

/** The shortest decimal text without an exponent. */
export function plainDecimal(value: number): string {
  const text = String(value);
  if (!text.includes('e')) return text;
  const [mantissa, power] = text.split('e') as [string, string];
  const sign = mantissa.startsWith('-') ? '-' : '';
  const [whole, fraction = ''] = mantissa.replace('-', '').split('.') as [string, string?];
  const digits = whole + fraction;
  const point = whole.length + Number(power);
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  return point >= digits.length
    ? sign + digits.padEnd(point, '0')
    : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** Digits of the largest number of 64 bits. */
const digitsMax = 20;

/** Reads decimal digits; undefined if the number exceeds 64 bits. Converting many digits would take more than linear time. */
export function wholeNumber(digits: string): bigint | undefined {
  const significant = digits.replace(/^0+/, '');
  return significant.length > digitsMax ? undefined : BigInt(significant);
}

/** Reads a decimal or hexadecimal number as Go's ParseFloat does; undefined for what is none. */
export function parseDouble(text: string): number | undefined {
  if (/^[+-]?(inf|infinity)$/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  if (/^nan$/i.test(text)) return NaN;
  if (/^[+-]?0x/i.test(text)) return parseHexDouble(text);
  if (!/^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

function parseHexDouble(text: string): number | undefined {
  const match = /^([+-]?)0x([0-9a-f]*)(?:\.([0-9a-f]*))?p([+-]?\d{1,5})$/i.exec(text);
  const [, , whole = '', fraction = '', exponent] = match ?? [];
  if (!match || whole + fraction === '') return undefined;
  const value = Number(BigInt(`0x${whole}${fraction}`)) * 2 ** (Number(exponent) - 4 * fraction.length);
  return Number.isFinite(value) ? (match[1] === '-' ? -value : value) : undefined;
}

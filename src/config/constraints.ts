import { createRequire } from 'node:module';
import { isIP } from 'node:net';
import type * as classValidator from 'class-validator';

/**
 * class-validator, without its front door: that one loads a library of telephone numbers and every other check,
 * 80 to 125 ms at each start, where the parts named here take 10.
 */
type Library = typeof classValidator;
const requireFrom = createRequire(import.meta.url);
const part = <Name extends keyof Library>(path: string, name: Name): Library[Name] =>
  (requireFrom(`class-validator/cjs/${path}/${name}.js`) as Library)[name];

export const Validator = part('validation', 'Validator');
export const IsBoolean = part('decorator/typechecker', 'IsBoolean');
export const IsIn = part('decorator/common', 'IsIn');
export const IsInt = part('decorator/typechecker', 'IsInt');
export const IsOptional = part('decorator/common', 'IsOptional');
export const IsString = part('decorator/typechecker', 'IsString');
export const Matches = part('decorator/string', 'Matches');
export const Max = part('decorator/number', 'Max');
export const Min = part('decorator/number', 'Min');
export const ValidateNested = part('decorator/common', 'ValidateNested');
const ValidateBy = part('decorator/common', 'ValidateBy');

/** A check of our own; `allowed` ends the sentence "must be ...". */
export function Satisfies(allowed: string, holds: (value: unknown) => boolean): PropertyDecorator {
  return ValidateBy({
    name: allowed,
    validator: { validate: holds, defaultMessage: () => `must be ${allowed}` },
  });
}

const texts = (holds: (value: string) => boolean) => (value: unknown) =>
  Array.isArray(value) && value.every((item) => typeof item === 'string' && holds(item));

export const IsTextList = () =>
  Satisfies(
    'a list of non-empty texts',
    texts((item) => item.length > 0),
  );
export const AreAmong = (choices: readonly string[]) =>
  Satisfies(
    `a list of ${choices.join(', ')}, each at most once`,
    (value) =>
      texts((item) => choices.includes(item))(value) && new Set(value as string[]).size === (value as string[]).length,
  );
export const IsChoice = (choices: readonly string[]) =>
  IsIn([...choices], { message: `must be one of ${choices.join(', ')}` });
export const IsPort = () =>
  Satisfies(
    'a port from 0 to 65535',
    (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 65535,
  );
export const IsIpAddress = () => Satisfies('an IP address', (value) => typeof value === 'string' && isIP(value) !== 0);
export const IsDomain = () =>
  Satisfies(
    'a DNS name of lower-case letters, digits, "-" and "."',
    (value) =>
      typeof value === 'string' &&
      value.length <= 253 &&
      /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(value),
  );
export const IsNatural = (least = 0) =>
  Satisfies(
    `a whole number of at least ${least}`,
    (value) => Number.isSafeInteger(value) && (value as number) >= least,
  );
/** Durations are stored in milliseconds; the message speaks of what was written. */
export const IsDuration = (allowed: 'zero or more' | 'more than zero' = 'zero or more') =>
  Satisfies(
    `a duration of ${allowed}`,
    (value) => Number.isSafeInteger(value) && (value as number) >= (allowed === 'zero or more' ? 0 : 1),
  );
export const AreSwitches = () =>
  Satisfies(
    'a map of names to true or false',
    (value) =>
      typeof value === 'object' && value !== null && Object.values(value).every((item) => typeof item === 'boolean'),
  );

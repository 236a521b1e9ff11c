import { isIP } from 'node:net';
import { IsIn, ValidateBy } from 'class-validator';

/** Declares a custom check; `allowed` completes the message "must be ...". */
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
export const AreOf = (choices: readonly string[]) =>
  Satisfies(
    `a list of ${choices.join(', ')}`,
    texts((item) => choices.includes(item)),
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
export const IsRate = () =>
  Satisfies('a number of at least 0', (value) => Number.isFinite(value) && (value as number) >= 0);
/** Durations are stored in milliseconds. */
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

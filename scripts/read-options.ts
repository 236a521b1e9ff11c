import { parseArgs, type ParseArgsConfig } from 'node:util';

/** Words of a command line that the command does not understand. */
export class UsageError extends Error {}

type Options = NonNullable<ParseArgsConfig['options']>;
type Values<T extends Options> = ReturnType<typeof parseArgs<{ options: T }>>['values'];

/** Reads `--name value` and `--name=value`. Throws a UsageError on unknown options and on other words. */
export function readOptions<T extends Options>(words: readonly string[], options: T): Values<T> {
  try {
    return parseArgs({ args: [...words], options, strict: true }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

const greatest = 2 ** 31;

/** Throws a UsageError if the value of an option is not a number from 0 to 2³¹. */
export function numberIn(name: string, text: string): number {
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || value > greatest) {
    throw new UsageError(`--${name} takes a number, not "${text}"`);
  }
  return value;
}

/** Like `numberIn` for numbers without a fraction. */
export function wholeNumberIn(name: string, text: string): number {
  const value = numberIn(name, text);
  if (!Number.isInteger(value)) throw new UsageError(`--${name} takes a whole number, not "${text}"`);
  return value;
}

/** Throws a UsageError if the value of an option is none of the known names. */
export function nameIn<T extends string>(name: string, text: string, known: readonly T[]): T {
  const found = known.find((one) => one === text);
  if (found === undefined) throw new UsageError(`--${name} takes ${known.join(', ')}, not "${text}"`);
  return found;
}

/** Like `nameIn` for names that are separated by commas. */
export function namesIn<T extends string>(name: string, text: string, known: readonly T[]): T[] {
  const names = text.split(',').filter((part) => part !== '');
  return names.map((part) => nameIn(name, part, known));
}

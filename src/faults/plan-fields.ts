import { parseDuration } from '../config/duration.js';

/** Names the field of a fault plan that is wrong. */
export class FaultPlanError extends Error {
  override readonly name = 'FaultPlanError';
}

const textsMax = 1_000;
const hourMs = 3_600_000;
/** Longer ones hold requests that nobody waits for. */
const durationMsMax = hourMs;
/** A hundred years: dates of the server stay below the year 10000. */
const shiftMsMax = 876_000 * hourMs;

export const at = (path: string, key: string) => (path === '' ? key : `${path}.${key}`);

/** The fields of a mapping, checked. */
export class Fields {
  private readonly mapping: ReadonlyMap<string, unknown>;

  constructor(
    value: unknown,
    private readonly path: string,
    known: readonly string[],
  ) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new FaultPlanError(`${path === '' ? 'the plan' : path}: a mapping`);
    }
    this.mapping = new Map(Object.entries(value));
    for (const key of this.mapping.keys()) {
      if (!known.includes(key)) throw new FaultPlanError(`${at(path, key)}: not known; one of ${known.join(', ')}`);
    }
  }

  get(key: string): unknown {
    return this.mapping.get(key) ?? undefined;
  }

  text(key: string): string | undefined {
    const value = this.get(key);
    if (value === undefined || (typeof value === 'string' && value !== '')) return value;
    throw new FaultPlanError(`${at(this.path, key)}: a text`);
  }

  number(key: string): number | undefined {
    const value = this.get(key);
    if (value === undefined || typeof value === 'number') return value;
    throw new FaultPlanError(`${at(this.path, key)}: a number`);
  }

  natural(key: string): number | undefined {
    const value = this.get(key);
    if (value === undefined || (Number.isSafeInteger(value) && (value as number) >= 0))
      return value as number | undefined;
    throw new FaultPlanError(`${at(this.path, key)}: a whole number, not negative`);
  }

  /** `200ms`, `1h30m`; with `isSigned` also `-5m`. */
  duration(key: string, isSigned = false): number | undefined {
    const value = this.get(key);
    if (value === undefined) return undefined;
    const ms = typeof value === 'string' ? parseDuration(value) : value === 0 ? 0 : undefined;
    if (ms !== undefined && (isSigned ? Math.abs(ms) <= shiftMsMax : ms >= 0 && ms <= durationMsMax)) return ms;
    const most = isSigned ? '876000h' : '1h';
    throw new FaultPlanError(`${at(this.path, key)}: a duration such as 200ms or 5m, at most ${most}`);
  }

  list(key: string): readonly unknown[] {
    const value = this.get(key) ?? [];
    if (Array.isArray(value)) return value;
    throw new FaultPlanError(`${at(this.path, key)}: a list`);
  }

  mustBeTrue(key: string): void {
    if (this.get(key) !== true) throw new FaultPlanError(`${at(this.path, key)}: true`);
  }

  /** The lists that are given. */
  textLists<K extends string>(keys: readonly K[]): { readonly [Key in K]?: readonly string[] } {
    const lists: { [Key in K]?: readonly string[] } = {};
    for (const key of keys) {
      const texts = this.texts(key);
      if (texts) lists[key] = texts;
    }
    return lists;
  }

  private texts(key: string): readonly string[] | undefined {
    if (this.get(key) === undefined) return undefined;
    const texts = this.list(key);
    if (texts.length <= textsMax && texts.every((text) => typeof text === 'string')) return texts;
    throw new FaultPlanError(`${at(this.path, key)}: a list of at most ${textsMax} texts`);
  }
}

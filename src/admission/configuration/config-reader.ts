import { isSet, type Fields } from '../../machinery/fields.js';

/** Reads a configuration object and notes everything that is wrong with it, by its place. */
export class ConfigReader {
  constructor(
    private readonly fields: Fields,
    private readonly at: string,
    readonly problems: string[],
  ) {}

  refuse(field: string, problem: string): void {
    this.problems.push(`${this.at}${field}: ${problem}`);
  }

  text(field: string): string | undefined {
    const value = this.fields[field];
    if (!isSet(value)) return undefined;
    if (typeof value === 'string') return value;
    this.refuse(field, 'must be a text');
    return undefined;
  }

  count(field: string): number | undefined {
    const value = this.fields[field];
    if (!isSet(value)) return undefined;
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
    this.refuse(field, 'must be a whole number, zero or more');
    return undefined;
  }

  texts(field: string): string[] {
    const value = this.fields[field];
    if (!isSet(value)) return [];
    if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
    this.refuse(field, 'must be a list of texts');
    return [];
  }

  part(field: string): ConfigReader {
    const value = this.fields[field];
    if (isSet(value) && !isMapping(value)) this.refuse(field, 'must be a mapping');
    return new ConfigReader(isMapping(value) ? value : {}, `${this.at}${field}.`, this.problems);
  }

  parts(field: string): ConfigReader[] {
    const value = this.fields[field];
    if (isSet(value) && !Array.isArray(value)) this.refuse(field, 'must be a list');
    const items: unknown[] = Array.isArray(value) ? value : [];
    return items.map((item, index) => {
      const place = `${field}[${index}]`;
      if (!isMapping(item)) this.refuse(place, 'must be a mapping');
      return new ConfigReader(isMapping(item) ? item : {}, `${this.at}${place}.`, this.problems);
    });
  }

  raw(field: string): unknown {
    return this.fields[field];
  }

  only(...known: readonly string[]): this {
    for (const field of Object.keys(this.fields)) {
      if (!known.includes(field)) this.refuse(field, `unknown field; known are ${known.join(', ')}`);
    }
    return this;
  }

  /** Whether it is what it must be: its kind, in any version of its group that is named. */
  is(kind: string, apiVersions: readonly string[]): boolean {
    const isRight = this.fields['kind'] === kind && apiVersions.includes(String(this.fields['apiVersion']));
    if (!isRight) this.refuse('kind', `must be ${kind} in ${apiVersions.join(' or ')}`);
    return isRight;
  }
}

export function isMapping(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

import { isSet, type Fields } from '../../machinery/fields.js';

/** Reads a mapping of a configuration file and collects its problems, each with the path of its field. */
export class ConfigReader {
  constructor(
    private readonly fields: Fields,
    private readonly path: string,
    readonly problems: string[],
  ) {}

  addProblem(field: string, problem: string): void {
    this.problems.push(`${this.path}${field}: ${problem}`);
  }

  string(field: string): string | undefined {
    const value = this.fields[field];
    if (!isSet(value)) return undefined;
    if (typeof value === 'string') return value;
    this.addProblem(field, 'must be a string');
    return undefined;
  }

  count(field: string): number | undefined {
    const value = this.fields[field];
    if (!isSet(value)) return undefined;
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
    this.addProblem(field, 'must be a whole number, zero or more');
    return undefined;
  }

  strings(field: string): string[] {
    const value = this.fields[field];
    if (!isSet(value)) return [];
    if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
    this.addProblem(field, 'must be a list of strings');
    return [];
  }

  mapping(field: string): ConfigReader {
    const value = this.fields[field];
    if (isSet(value) && !isMapping(value)) this.addProblem(field, 'must be a mapping');
    return new ConfigReader(isMapping(value) ? value : {}, `${this.path}${field}.`, this.problems);
  }

  mappings(field: string): ConfigReader[] {
    const value = this.fields[field];
    if (isSet(value) && !Array.isArray(value)) this.addProblem(field, 'must be a list');
    const items: unknown[] = Array.isArray(value) ? value : [];
    return items.map((item, index) => {
      const at = `${field}[${index}]`;
      if (!isMapping(item)) this.addProblem(at, 'must be a mapping');
      return new ConfigReader(isMapping(item) ? item : {}, `${this.path}${at}.`, this.problems);
    });
  }

  raw(field: string): unknown {
    return this.fields[field];
  }

  /** Adds a problem for each field that is not in the list. */
  allowOnly(...known: readonly string[]): this {
    for (const field of Object.keys(this.fields)) {
      if (!known.includes(field)) this.addProblem(field, `unknown field; known are ${known.join(', ')}`);
    }
    return this;
  }

  /** True if kind and apiVersion are as required; otherwise adds a problem. */
  hasKind(kind: string, apiVersions: readonly string[]): boolean {
    const isRight = this.fields['kind'] === kind && apiVersions.includes(String(this.fields['apiVersion']));
    if (!isRight) this.addProblem('kind', `must be ${kind} in ${apiVersions.join(' or ')}`);
    return isRight;
  }
}

export function isMapping(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

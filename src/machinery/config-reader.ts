import { isSet, type Fields } from './fields.js';

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

  boolean(field: string): boolean | undefined {
    const value = this.fields[field];
    if (!isSet(value)) return undefined;
    if (typeof value === 'boolean') return value;
    this.addProblem(field, 'must be true or false');
    return undefined;
  }

  /** Returns the string if it is one of the known ones. */
  oneOf<Known extends string>(field: string, known: readonly Known[]): Known | undefined {
    const value = this.fields[field];
    if (!isSet(value)) return undefined;
    const found = known.find((one) => one === value);
    if (found === undefined) this.addProblem(field, mustBeOneOf(known));
    return found;
  }

  /** As oneOf(), for a field that must be set. */
  requiredOneOf<Known extends string>(field: string, known: readonly Known[]): Known | undefined {
    if (!isSet(this.fields[field])) this.addProblem(field, mustBeOneOf(known));
    return this.oneOf(field, known);
  }

  integer(field: string): number | undefined {
    return this.wholeNumber(field, -Infinity, 'must be a whole number');
  }

  count(field: string): number | undefined {
    return this.wholeNumber(field, 0, 'must be a whole number, zero or more');
  }

  /** Returns a number of one or more; the field must be set. */
  requiredCount(field: string): number | undefined {
    const problem = 'must be a whole number, one or more';
    if (!isSet(this.fields[field])) this.addProblem(field, problem);
    return this.wholeNumber(field, 1, problem);
  }

  private wholeNumber(field: string, min: number, problem: string): number | undefined {
    const value = this.fields[field];
    if (!isSet(value)) return undefined;
    if (typeof value === 'number' && Number.isInteger(value) && value >= min) return value;
    this.addProblem(field, problem);
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

  /** Returns the mappings of a list. Items that are no mappings are left out. */
  mappings(field: string): ConfigReader[] {
    const value = this.fields[field];
    if (isSet(value) && !Array.isArray(value)) this.addProblem(field, 'must be a list');
    const items: unknown[] = Array.isArray(value) ? value : [];
    return items.flatMap((item, index) => {
      const at = `${field}[${index}]`;
      if (isMapping(item)) return [new ConfigReader(item, `${this.path}${at}.`, this.problems)];
      this.addProblem(at, 'must be a mapping');
      return [];
    });
  }

  /** Returns the names of all fields. */
  names(): string[] {
    return Object.keys(this.fields);
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
    const isRight = this.raw('kind') === kind && apiVersions.includes(String(this.raw('apiVersion')));
    if (!isRight) this.addProblem('kind', `must be ${kind} in ${apiVersions.join(' or ')}`);
    return isRight;
  }
}

const mustBeOneOf = (known: readonly string[]) => `must be one of ${known.map((one) => one || '""').join(', ')}`;

export function isMapping(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

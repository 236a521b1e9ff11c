import { isJsonObject, type JsonObject, type JsonValue } from '../machinery/kube-object.js';

/**
 * Reads fields of a decoded document and rejects wrong types. As in Go, absent, null and empty values are equal. Only
 * own fields are read, so that names such as `constructor` are ordinary ones.
 */
export class CheckedFields {
  private constructor(
    private readonly fields: JsonObject,
    /** Position in the document: `users[0].user`. */
    readonly path: string,
    private readonly failure: (problem: string) => Error,
  ) {}

  /** `failure` creates the error for a problem such as `users must be a list`. */
  static of(value: JsonValue, path: string, failure: (problem: string) => Error): CheckedFields {
    if (!isJsonObject(value)) throw failure(`${path === '' ? 'the document' : path} must be a mapping`);
    return new CheckedFields(value, path, failure);
  }

  /** The value of any type; undefined for null. */
  value(name: string): JsonValue | undefined {
    return Object.hasOwn(this.fields, name) ? (this.fields[name] ?? undefined) : undefined;
  }

  text(name: string): string | undefined {
    const value = this.value(name);
    if (value === undefined || value === '') return undefined;
    if (typeof value !== 'string') throw this.wrong(name, 'must be a string; put it in quotes');
    return value;
  }

  requiredText(name: string): string {
    const value = this.text(name);
    if (value === undefined) throw this.wrong(name, 'is required');
    return value;
  }

  /** False if absent. */
  flag(name: string): boolean {
    const value = this.value(name);
    if (value !== undefined && typeof value !== 'boolean') throw this.wrong(name, 'must be true or false');
    return value ?? false;
  }

  texts(name: string): string[] {
    return this.list(name).map((value, index) => {
      if (typeof value !== 'string') throw this.wrong(`${name}[${index}]`, 'must be a string; put it in quotes');
      return value;
    });
  }

  object(name: string): CheckedFields | undefined {
    const value = this.value(name);
    return value === undefined ? undefined : CheckedFields.of(value, this.at(name), this.failure);
  }

  items(name: string): CheckedFields[] {
    return this.list(name).map((value, index) => CheckedFields.of(value, this.at(`${name}[${index}]`), this.failure));
  }

  names(): string[] {
    return Object.keys(this.fields);
  }

  /** Creates the error for a field: `users[0].user.token must be a string`. */
  wrong(name: string, problem: string): Error {
    return this.failure(`${this.at(name)} ${problem}`);
  }

  private list(name: string): JsonValue[] {
    const value = this.value(name) ?? [];
    if (!Array.isArray(value)) throw this.wrong(name, 'must be a list');
    return value;
  }

  private at(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`;
  }
}

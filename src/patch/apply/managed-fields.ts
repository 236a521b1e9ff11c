import { asText } from '../../machinery/fields.js';
import { goQuote } from '../../machinery/go-quote.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../machinery/kube-object.js';
import { atOnce, type Steps } from '../../std/steps.js';
import { compareUtf8 } from '../../std/compare-utf8.js';
import { FieldSetError, readFieldSet } from './field-set-reader.js';
import type { FieldSet } from './field-set.js';

export type Operation = 'Apply' | 'Update';

/** An entry of managedFields: manager, operation, and the fields it owns. */
export interface Owner {
  readonly manager: string;
  readonly operation: Operation;
  /** The version of the fields. */
  readonly apiVersion: string;
  readonly subresource: string;
  /** Time of the last change of its fields; undefined for an applier that never changed anything. */
  readonly time: string | undefined;
  readonly fields: FieldSet;
}

/** Keyed by ownerId(), in the order of the list. */
export type Owners = Map<string, Owner>;

/** Limit on entries; manager and subresource names have limits of their own. */
const entriesMax = 1000;

/**
 * Identity of an owner. An applier is the same in all versions; an updater has one entry for each version. Conflicts
 * are sorted by it.
 */
export function ownerId(owner: Pick<Owner, 'manager' | 'operation' | 'apiVersion' | 'subresource'>): string {
  const version = owner.operation === 'Apply' ? '' : owner.apiVersion;
  return `${owner.manager}\0${owner.operation}\0${version}\0${owner.subresource}`;
}

/** Returns undefined for managedFields that this server could not have written. */
export function readOwners(managedFields: unknown): Owners | undefined {
  return atOnce(readingOwners(managedFields));
}

/** Generator form of readOwners(). */
export function* readingOwners(managedFields: unknown): Steps<Owners | undefined> {
  const owners: Owners = new Map();
  if (managedFields === undefined || managedFields === null) return owners;
  if (!Array.isArray(managedFields) || managedFields.length > entriesMax) return undefined;
  for (const entry of managedFields as unknown[]) {
    const owner = readOwner(entry);
    if (!owner) return undefined;
    owners.set(ownerId(owner), owner);
    yield;
  }
  return owners;
}

function readOwner(entry: unknown): Owner | undefined {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return undefined;
  const { manager = '', operation, apiVersion, subresource = '', time, fieldsType, fieldsV1 } = entry as JsonObject;
  if (operation !== 'Apply' && operation !== 'Update') return undefined;
  if (typeof apiVersion !== 'string' || apiVersion === '' || fieldsType !== 'FieldsV1') return undefined;
  if (typeof manager !== 'string' || typeof subresource !== 'string') return undefined;
  const seconds = time === undefined || time === null ? undefined : readTime(time);
  if (time && seconds === undefined) return undefined;
  try {
    return { manager, operation, apiVersion, subresource, time: seconds, fields: readFieldSet(fieldsV1) };
  } catch (error) {
    if (error instanceof FieldSetError) return undefined;
    throw error;
  }
}

/** Returns why an entry of managedFields cannot be read, in the words of kube-apiserver; undefined if all can. */
export function managedFieldsProblem(entries: readonly JsonValue[]): string | undefined {
  for (const [index, entry] of entries.entries()) {
    const { operation, apiVersion, fieldsType, fieldsV1, manager } = isJsonObject(entry) ? entry : ({} as JsonObject);
    if (operation !== 'Apply' && operation !== 'Update') return 'operation must be `Apply` or `Update`';
    if (asText(apiVersion) === '') return 'apiVersion must not be empty';
    const type = asText(fieldsType);
    if (type === '') return `missing fieldsType in managed fields entry ${index}`;
    if (type !== 'FieldsV1') return `invalid fieldsType ${goQuote(type)} in managed fields entry ${index}`;
    try {
      readFieldSet(fieldsV1);
    } catch (error) {
      if (!(error instanceof FieldSetError)) throw error;
      return `error decoding versioned set of manager ${goQuote(asText(manager))}: ${error.message}`;
    }
  }
  return undefined;
}

const writtenTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

function readTime(time: JsonValue): string | undefined {
  if (typeof time !== 'string') return undefined;
  if (writtenTime.test(time)) return time;
  const milliseconds = Date.parse(time);
  return Number.isNaN(milliseconds) ? undefined : `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}

/** Entries of managedFields; undefined if there are none. */
export function writeOwners(owners: Owners): JsonValue[] | undefined {
  if (owners.size === 0) return undefined;
  return [...owners.values()].sort(compareOwners).map(entryOf);
}

function entryOf(owner: Owner): JsonValue {
  const entry: JsonObject = { manager: owner.manager, operation: owner.operation, apiVersion: owner.apiVersion };
  if (owner.time !== undefined) entry['time'] = owner.time;
  entry['fieldsType'] = 'FieldsV1';
  entry['fieldsV1'] = owner.fields;
  if (owner.subresource !== '') entry['subresource'] = owner.subresource;
  return entry;
}

/** Appliers first, then by time. */
function compareOwners(a: Owner, b: Owner): number {
  if (a.operation !== b.operation) return a.operation < b.operation ? -1 : 1;
  return (
    compareUtf8(a.time ?? '', b.time ?? '') ||
    compareUtf8(a.manager, b.manager) ||
    compareUtf8(a.apiVersion, b.apiVersion) ||
    compareUtf8(a.subresource, b.subresource)
  );
}

/** True if a client asks to clear managedFields: a list with one empty entry. */
export function isReset(managedFields: unknown): boolean {
  if (!Array.isArray(managedFields) || managedFields.length !== 1) return false;
  const entry: unknown = managedFields[0];
  return typeof entry === 'object' && entry !== null && Object.values(entry).every((value) => !value);
}

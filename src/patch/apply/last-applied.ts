import { isJsonObject, type JsonObject } from '../../machinery/kube-object.js';
import { metadataOf } from './bare-object.js';
import { changesBetween } from './changes.js';
import { fieldsOf } from './config-set.js';
import type { Conflict } from './conflicts.js';
import { difference, isEmpty, noFields, type FieldSet } from './field-set.js';
import { readJson, sortedJson } from './json-text.js';
import { UntypedItem } from './path-element.js';
import type { Schema } from './schema.js';
import { typeProblems } from './type-check.js';

/** The manager name of kubectl, which alone upgrades from client-side to server-side apply. */
const kubectl = 'kubectl';
/** Limit on all annotations of an object together; ValidateAnnotationsSize. */
const annotationBytesMax = 256 * 1024;

/**
 * The last-applied-configuration annotation of client-side apply: its fields are no conflict for kubectl, and applies
 * keep it up to date.
 */
export class LastApplied {
  constructor(
    private readonly annotation: string,
    private readonly kind: { readonly apiVersion: string; readonly schema: Schema },
  ) {}

  /** Removes, for kubectl, the conflicts about fields that still are as client-side apply left them. */
  conflictsLeft(live: JsonObject, manager: string, conflicts: readonly Conflict[]): readonly Conflict[] {
    const allowed = manager === kubectl ? this.stillAsApplied(live) : noFields;
    if (isEmpty(allowed)) return conflicts;
    return conflicts
      .map((conflict) => ({ ...conflict, fields: difference(conflict.fields, allowed) }))
      .filter(({ fields }) => !isEmpty(fields));
  }

  /** Sets the configuration in the annotation, if the object has one. */
  noted(object: JsonObject, config: JsonObject, manager: string): JsonObject {
    if (manager !== kubectl || !this.noteOf(object)) return object;
    const metadata = metadataOf(object)!;
    const annotations = { ...annotationsOf(object), [this.annotation]: `${sortedJson(this.withoutNote(config))}\n` };
    if (bytesOf(annotations) > annotationBytesMax) delete annotations[this.annotation];
    return { ...object, metadata: { ...metadata, annotations } };
  }

  private stillAsApplied(live: JsonObject): FieldSet {
    const { schema, apiVersion } = this.kind;
    const note = this.noteOf(live);
    const applied = note === undefined ? undefined : readJson(note);
    if (!isJsonObject(applied) || applied['apiVersion'] !== apiVersion) return noFields;
    if (typeProblems(schema, applied).length > 0) return noFields;
    try {
      const changes = changesBetween({ schema, from: applied, to: live, toIsComplete: false });
      const fields = difference(fieldsOf(schema, applied), changes.modified);
      return difference(difference(fields, changes.added), changes.removed);
    } catch (error) {
      if (error instanceof UntypedItem) return noFields;
      throw error;
    }
  }

  private noteOf(object: JsonObject): string | undefined {
    const note = annotationsOf(object)[this.annotation];
    return typeof note === 'string' && note !== '' ? note : undefined;
  }

  private withoutNote(config: JsonObject): JsonObject {
    const metadata = metadataOf(config);
    if (metadata?.['annotations'] === undefined) return config;
    const { [this.annotation]: _note, ...annotations } = annotationsOf(config);
    const { annotations: _annotations, ...rest } = metadata;
    return { ...config, metadata: Object.keys(annotations).length > 0 ? { ...rest, annotations } : rest };
  }
}

function annotationsOf(object: JsonObject): JsonObject {
  const annotations = metadataOf(object)?.['annotations'];
  return isJsonObject(annotations) ? annotations : {};
}

function bytesOf(annotations: JsonObject): number {
  let bytes = 0;
  for (const [name, value] of Object.entries(annotations)) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(typeof value === 'string' ? value : '');
  }
  return bytes;
}

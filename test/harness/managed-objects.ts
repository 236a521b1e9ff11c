import { Catalog } from '../../src/catalog/catalog.js';
import { namingProfile } from '../../src/config/naming-profile.js';
import { ApiError } from '../../src/machinery/api-error.js';
import type { JsonObject, JsonValue } from '../../src/machinery/kube-object.js';
import { FieldManager } from '../../src/patch/apply/field-manager.js';
import { fieldSetOf, pathsOf, pathText } from '../../src/patch/apply/field-set.js';
import { readOwners } from '../../src/patch/apply/managed-fields.js';
import type { Schema } from '../../src/patch/apply/schema.js';
import { schemaOfType } from '../../src/patch/apply/schema-of-type.js';

export const catalog = new Catalog(namingProfile('kubernetes'));

/** A write of an object and its subresource: tests of ownership have one line per write. */
export interface ManagedWrite {
  readonly verb: 'apply' | 'force' | 'update';
  readonly by: string;
  /** For an update a function of the live object, for an apply the configuration without the object's identity. */
  readonly body: JsonObject | ((live: JsonObject) => JsonObject);
  readonly subresource?: string;
}

export const apply = (by: string, body: JsonObject, subresource = ''): ManagedWrite => ({
  verb: 'apply',
  by,
  body,
  subresource,
});
export const force = (by: string, body: JsonObject, subresource = ''): ManagedWrite => ({
  verb: 'force',
  by,
  body,
  subresource,
});
export const update = (by: string, body: ManagedWrite['body'], subresource = ''): ManagedWrite => ({
  verb: 'update',
  by,
  body,
  subresource,
});

/** An object whose writers all have names; each write is a second later than the one before. */
export class ManagedObject {
  live: JsonObject | undefined;
  private seconds = 0;

  constructor(
    private readonly kind: { apiVersion: string; kind: string; schema: Schema },
    private readonly lastAppliedAnnotation?: string,
  ) {}

  static of(group: string, version: string, kind: string, annotation?: string): ManagedObject {
    const apiVersion = group === '' ? version : `${group}/${version}`;
    const schema = schemaOfType(catalog.kind(group, version, kind)!);
    return new ManagedObject({ apiVersion, kind, schema }, annotation);
  }

  /** Returns the error message if the write was refused, and then changes nothing. */
  write({ verb, by, body, subresource = '' }: ManagedWrite): string | undefined {
    const manager = this.manager(subresource);
    const { live } = this;
    const time = new Date(Date.UTC(2026, 0, 1) + 1000 * this.seconds++).toISOString().replace('.000', '');
    try {
      if (verb === 'update') {
        const next = typeof body === 'function' ? body(structuredClone(live ?? {})) : body;
        this.live = manager.trackUpdate({ live, next: this.named(next), manager: by, time });
      } else {
        const config = this.named(body as JsonObject);
        this.live = manager.apply({ live, config, manager: by, force: verb === 'force', time });
      }
      return undefined;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return error.message;
    }
  }

  /** `m1 Apply: .data.a .data.b` */
  owners(): string[] {
    const owners = readOwners((this.live?.['metadata'] as JsonObject | undefined)?.['managedFields']);
    return [...owners!.values()].map(({ manager, operation, subresource, fields }) => {
      const who = `${manager} ${operation}${subresource === '' ? '' : ` ${subresource}`}`;
      return `${who}: ${[...pathsOf(fields)].map(pathText).join(' ')}`;
    });
  }

  /** The object without its identity and managedFields. */
  content(): JsonObject {
    const { apiVersion: _apiVersion, kind: _kind, metadata, ...content } = this.live ?? {};
    const { name: _name, managedFields: _managedFields, ...rest } = metadata as JsonObject;
    return Object.keys(rest).length > 0 ? { metadata: rest, ...content } : content;
  }

  private manager(subresource: string): FieldManager {
    const unreached = subresource === 'status' ? fieldSetOf('spec', 'metadata') : fieldSetOf('status');
    return new FieldManager({
      ...this.kind,
      subresource,
      lastAppliedAnnotation: this.lastAppliedAnnotation,
      versions: { schema: () => this.kind.schema, convert: (object) => object, unreached: () => unreached },
    });
  }

  private named(body: JsonObject): JsonObject {
    const { apiVersion, kind } = this.kind;
    return { apiVersion, kind, ...body, metadata: { name: 'one', ...(body['metadata'] as JsonValue as JsonObject) } };
  }
}

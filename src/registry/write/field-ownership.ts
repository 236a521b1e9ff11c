import type { NamingProfile } from '../../config/naming-profile.js';
import { asText } from '../../machinery/fields.js';
import { apiVersionOf } from '../../machinery/gvk.js';
import type { JsonObject, JsonValue, KubeObject, ObjectMeta } from '../../machinery/kube-object.js';
import type { StructType, TypeSource } from '../../machinery/type-model.js';
import type { Steps } from '../../std/steps.js';
import { FieldManager } from '../../patch/apply/field-manager.js';
import { fieldPatternOf } from '../../patch/apply/field-pattern.js';
import { fieldSetOf, type FieldSet } from '../../patch/apply/field-set.js';
import { schemaOfAnyObject } from '../../patch/apply/schema-of-json-schema.js';
import { schemaOfType } from '../../patch/apply/schema-of-type.js';
import type { Schema } from '../../patch/apply/schema.js';
import {
  hasViewSubresource,
  subresourceOf,
  type ViewSubresource,
  type ResourceDefinition,
} from '../definition/resource-definition.js';
import { ScaleOwnership, scaleSubresourceOf } from '../definition/scale-ownership.js';
import { toServedVersion, toStorageVersion } from '../definition/served-version.js';

interface ServedSchema {
  readonly definition: ResourceDefinition;
  readonly schema: Schema;
}

/** The write that managedFields records: by which version and subresource, and by which field manager. */
interface Writer {
  readonly definition: ResourceDefinition;
  /** '' for the main resource. */
  readonly subresource: string;
  readonly manager: string;
  /** `2026-01-02T03:04:05Z` */
  readonly time: string;
}

interface ApplyWrite extends Writer {
  readonly live: KubeObject | undefined;
  readonly config: JsonObject;
  readonly force: boolean;
  /** Checks the merged object before its managedFields are computed; throws an ApiError to reject it. */
  readonly check?: (object: JsonValue) => void;
}

/**
 * Computes managedFields of the objects of one store. An entry names fields in the version of its writer, so every
 * served version of the resource is added.
 */
export class FieldOwnership {
  private readonly versions = new Map<string, ServedSchema>();
  private readonly managers = new Map<string, FieldManager>();
  private readonly scales = new Map<string, ScaleOwnership>();

  constructor(
    private readonly types: TypeSource,
    private readonly naming: NamingProfile,
  ) {}

  add(definition: ResourceDefinition, struct: StructType | undefined): void {
    const schema = struct
      ? schemaOfType(struct)
      : (definition.customType?.ownership ?? schemaOfAnyObject(schemaOfType(this.types.struct('meta.v1.ObjectMeta'))));
    this.versions.set(apiVersionOf(definition.group, definition.version), { definition, schema });
  }

  /** Returns the schema of a served version. */
  schemaOf({ group, version }: Pick<ResourceDefinition, 'group' | 'version'>): Schema | undefined {
    return this.versions.get(apiVersionOf(group, version))?.schema;
  }

  /** Computes managedFields after a create or update. `live` and `next` are in the storage version. */
  *trackUpdate(writer: Writer, live: KubeObject | undefined, next: KubeObject): Steps<ObjectMeta['managedFields']> {
    const { definition, manager, time } = writer;
    const scale = this.scaleOf(writer);
    if (scale && live) return scale.trackUpdate(writer, live, next);
    const seen = (object: KubeObject) => toServedVersion(definition, object) as unknown as JsonObject;
    const update = { live: live && seen(live), next: seen(next), manager, time };
    const tracked = yield* this.managerOf(writer).trackingUpdate(update);
    return (tracked as unknown as KubeObject).metadata.managedFields;
  }

  /** Applies a configuration (server-side apply). Returns the object, or its Scale, in the version of the request. */
  *apply(write: ApplyWrite): Steps<KubeObject> {
    const { definition, live, config, manager, force, time, check } = write;
    const scale = this.scaleOf(write);
    if (scale && live) return scale.apply(write, live) as unknown as KubeObject;
    const object = yield* this.managerOf(write).applying({
      live: live && (toServedVersion(definition, live) as unknown as JsonObject),
      config,
      manager,
      force,
      time,
      check,
    });
    return object as unknown as KubeObject;
  }

  private managerOf({ definition, subresource }: Pick<Writer, 'definition' | 'subresource'>): FieldManager {
    const apiVersion = apiVersionOf(definition.group, definition.version);
    const key = `${apiVersion}/${subresource}`;
    let found = this.managers.get(key);
    if (!found) this.managers.set(key, (found = this.newManager(definition, apiVersion, subresource)));
    return found;
  }

  /** Returns undefined unless the subresource is a Scale. */
  private scaleOf({ definition, subresource }: Pick<Writer, 'definition' | 'subresource'>): ScaleOwnership | undefined {
    const scaleSubresource = scaleSubresourceOf(definition, subresource);
    if (!scaleSubresource) return undefined;
    const key = `${apiVersionOf(definition.group, definition.version)}/${subresource}`;
    let found = this.scales.get(key);
    if (!found) {
      const versions = () =>
        new Map([...this.versions].map(([apiVersion, { definition }]) => [apiVersion, definition]));
      this.scales.set(
        key,
        (found = new ScaleOwnership(this.types, definition, subresource, scaleSubresource, versions)),
      );
    }
    return found;
  }

  private newManager(definition: ResourceDefinition, apiVersion: string, subresource: string): FieldManager {
    const resetFields = resetFieldsOf(definition, subresource);
    const onlyFields = viewOf(definition, subresource)?.onlyFields;
    const onlyPattern = onlyFields && fieldPatternOf(...onlyFields);
    return new FieldManager({
      apiVersion,
      kind: definition.kind,
      subresource,
      schema: this.versions.get(apiVersion)!.schema,
      versions: {
        schema: (version) => this.versions.get(version)?.schema,
        convert: (object, version) => this.convert(object, version),
        unreached: () => resetFields,
        reached: () => onlyPattern,
      },
      lastAppliedAnnotation:
        subresource === '' ? this.naming.label('last-applied-configuration', 'kubectl') : undefined,
    });
  }

  private convert(object: JsonObject, apiVersion: string): JsonObject {
    const from = this.versions.get(asText(object['apiVersion']))?.definition;
    const to = this.versions.get(apiVersion)?.definition;
    if (!from || !to) return object;
    return toServedVersion(to, toStorageVersion(from, object as unknown as KubeObject)) as unknown as JsonObject;
  }
}

function resetFieldsOf(definition: ResourceDefinition, subresource: string): FieldSet | undefined {
  if (subresource === '') {
    const paths = [...(hasViewSubresource(definition, 'status') ? ['status'] : []), ...(definition.resetFields ?? [])];
    return paths.length > 0 ? fieldSetOf(...paths) : undefined;
  }
  const resetFields = viewOf(definition, subresource)?.resetFields;
  return resetFields && fieldSetOf(...resetFields);
}

function viewOf(definition: ResourceDefinition, subresource: string): ViewSubresource | undefined {
  const found = subresourceOf(definition, subresource);
  return found?.type === 'view' ? found : undefined;
}

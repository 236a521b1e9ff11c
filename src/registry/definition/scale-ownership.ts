import { apiVersionOf } from '../../machinery/gvk.js';
import type { JsonObject, KubeObject, ObjectMeta } from '../../machinery/kube-object.js';
import type { TypeSource } from '../../machinery/type-model.js';
import { managedFieldsOf, withManagedFields } from '../../patch/apply/bare-object.js';
import { FieldManager } from '../../patch/apply/field-manager.js';
import { fieldSetOf, type FieldSet } from '../../patch/apply/field-set.js';
import { scaledManagedFields, scaleManagedFields, type ScaledObject } from '../../patch/apply/scale-owners.js';
import { schemaOfType } from '../../patch/apply/schema-of-type.js';
import { assert } from '../../std/assert.js';
import { subresourceOf, type ViewSubresource, type ResourceDefinition } from './resource-definition.js';

interface Scaling {
  readonly manager: string;
  readonly time: string;
}

/** A subresource whose view is a Scale. */
type ScaleSubresource = ViewSubresource & Required<Pick<ViewSubresource, 'viewKind' | 'replicas'>>;

export function scaleSubresourceOf(definition: ResourceDefinition, subresource: string): ScaleSubresource | undefined {
  const found = subresourceOf(definition, subresource);
  return found?.type === 'view' && found.viewKind && found.replicas !== undefined
    ? (found as ScaleSubresource)
    : undefined;
}

/** Computes managedFields for writes of a Scale, whose field paths differ from those of the scaled object. */
export class ScaleOwnership {
  private readonly fieldManager: FieldManager;
  private readonly apiVersion: string;

  constructor(
    types: TypeSource,
    { group, version }: ResourceDefinition,
    subresource: string,
    private readonly scaleSubresource: ScaleSubresource,
    /** All served versions of the scaled object, by apiVersion. */
    private readonly versions: () => ReadonlyMap<string, ResourceDefinition>,
  ) {
    const { viewKind } = scaleSubresource;
    const struct = types.kind(viewKind.group, viewKind.version, viewKind.kind);
    assert(struct, `the type of ${viewKind.kind} is known`);
    const schema = schemaOfType(struct);
    const scaleVersion = apiVersionOf(viewKind.group, viewKind.version);
    this.apiVersion = apiVersionOf(group, version);
    this.fieldManager = new FieldManager({
      apiVersion: scaleVersion,
      kind: viewKind.kind,
      subresource,
      schema,
      versions: {
        schema: (apiVersion) => (apiVersion === scaleVersion ? schema : undefined),
        convert: (scale) => scale,
      },
    });
  }

  /** Computes managedFields of the object after an update of its Scale. */
  trackUpdate({ manager, time }: Scaling, live: KubeObject, next: KubeObject): ObjectMeta['managedFields'] {
    const tracked = this.fieldManager.trackUpdate({ live: this.scaleOf(live), next: this.view(next), manager, time });
    return scaledManagedFields(this.scaled(live), managedFieldsOf(tracked));
  }

  /** Applies a configuration to the Scale (server-side apply). The result carries the managedFields of the object. */
  apply(
    { manager, time, config, force }: Scaling & { readonly config: JsonObject; readonly force: boolean },
    live: KubeObject,
  ): JsonObject {
    const scale = this.fieldManager.apply({ live: this.scaleOf(live), config, manager, force, time });
    return withManagedFields(scale, scaledManagedFields(this.scaled(live), managedFieldsOf(scale)));
  }

  private scaleOf(object: KubeObject): JsonObject {
    return withManagedFields(this.view(object), scaleManagedFields(this.scaled(object)));
  }

  private view(object: KubeObject): JsonObject {
    return this.scaleSubresource.view(object) as unknown as JsonObject;
  }

  private scaled({ metadata }: KubeObject): ScaledObject {
    const replicas = new Map<string, FieldSet | undefined>();
    for (const [apiVersion, definition] of this.versions()) {
      const scale = Object.keys(definition.subresources)
        .map((name) => scaleSubresourceOf(definition, name))
        .find((found) => found !== undefined);
      replicas.set(apiVersion, scale && fieldSetOf(scale.replicas));
    }
    return { managedFields: metadata.managedFields, apiVersion: this.apiVersion, replicas };
  }
}

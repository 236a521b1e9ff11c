import type { Transform } from '../codec/negotiate.js';
import { apiVersionOf } from '../machinery/gvk.js';
import type { KubeObject, ObjectMeta } from '../machinery/kube-object.js';
import type { ResourceDefinition } from '../registry/definition/resource-definition.js';
import type { TableColumn, TableDefinition } from '../registry/definition/table.js';
import type { Clock } from '../std/clock.js';

/** The `includeObject` option of Tables: what a row carries beside its cells. */
export type IncludeObject = 'Metadata' | 'Object' | 'None';

export interface ListMeta {
  readonly resourceVersion?: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
  /** Set for lists with a shard selector. */
  readonly shardInfo?: { readonly selector: string };
}

/** Objects of one kind in the shapes that any kind has: rows of Tables and PartialObjectMetadata. */
export class CommonShapes {
  constructor(
    private readonly definition: ResourceDefinition,
    private readonly clock: Clock,
  ) {}

  table(
    objects: readonly KubeObject[],
    meta: ListMeta,
    transform: Transform,
    includeObject: IncludeObject,
    columns: readonly TableColumn[] | undefined,
  ): unknown {
    const nowMs = this.clock.now();
    return {
      kind: 'Table',
      apiVersion: apiVersionOf(transform.group, transform.version),
      metadata: meta,
      columnDefinitions: columns ? this.columns(columns) : null,
      rows: objects.map((object) => this.row(object, transform, includeObject, nowMs)),
    };
  }

  row(object: KubeObject, transform: Transform, includeObject: IncludeObject, nowMs: number): unknown {
    const shown =
      includeObject === 'None' ? null : includeObject === 'Object' ? object : this.metadataOnly(object, transform);
    const { cells, conditions } = this.tableOf(object);
    const marks = conditions?.(object) ?? [];
    return { cells: cells(object, { nowMs }), ...(marks.length > 0 && { conditions: marks }), object: shown };
  }

  /** A view of another kind (Scale) has its own columns. */
  tableOf({ kind }: KubeObject): TableDefinition {
    const { kind: own, subresources, table } = this.definition;
    if (kind === own) return table;
    const view = Object.values(subresources).find((it) => it.type === 'view' && it.viewKind?.kind === kind);
    return (view?.type === 'view' ? view.table : undefined) ?? table;
  }

  columns(columns: readonly TableColumn[]) {
    return columns.map(({ name, type, format = '', description, priority = 0 }) => ({
      name,
      type,
      format,
      description,
      priority,
    }));
  }

  metadataOnly(object: KubeObject, transform: Transform): KubeObject {
    return {
      kind: 'PartialObjectMetadata',
      apiVersion: apiVersionOf(transform.group, transform.version),
      metadata: this.definition.fieldAnnotations ? this.withoutFields(object.metadata) : object.metadata,
    };
  }

  private withoutFields(metadata: ObjectMeta): ObjectMeta {
    const { annotations, ...rest } = metadata;
    const left = Object.entries(annotations ?? {}).filter(([key]) => !this.definition.fieldAnnotations!.includes(key));
    return left.length === 0 ? rest : { ...metadata, annotations: Object.fromEntries(left) };
  }
}

import type { Scale } from '../../catalog/types/autoscaling.v1.js';
import { fieldError, type FieldError } from '../../machinery/field-error.js';
import { asFields, asNumber, valueAt } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { ViewSubresource } from './resource-definition.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from './table.js';

interface ScalePaths {
  /** `['spec', 'replicas']` */
  readonly specReplicas: readonly string[];
  readonly statusReplicas: readonly string[];
  /** The label selector of the Pods, in text form. */
  readonly selector?: (object: KubeObject) => string;
}

/** The scale subresource: shows the replicas of a workload as autoscaling/v1 Scale. */
export function scaleSubresource({ specReplicas, statusReplicas, selector }: ScalePaths): ViewSubresource {
  return {
    type: 'view',
    verbs: ['get', 'patch', 'update'],
    viewKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
    table: scaleTable,
    replicas: specReplicas.join('/'),
    view(object) {
      const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
      const text = selector?.(object) ?? '';
      const metadata = { name, namespace, uid, resourceVersion, creationTimestamp };
      return {
        kind: 'Scale',
        apiVersion: 'autoscaling/v1',
        metadata: Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== undefined)),
        spec: { replicas: numberAt(object, specReplicas) },
        status: { replicas: numberAt(object, statusReplicas), ...(text !== '' && { selector: text }) },
      };
    },
    put(object, view: Scale) {
      const result = withValueAt(object, specReplicas, view.spec?.replicas ?? 0) as KubeObject;
      return {
        ...result,
        metadata: {
          ...object.metadata,
          ...(view.metadata.resourceVersion !== undefined && { resourceVersion: view.metadata.resourceVersion }),
        },
      };
    },
    validate(object) {
      const errors: FieldError[] = [];
      const replicas = valueAt(object, specReplicas);
      if (!Number.isInteger(replicas) || (replicas as number) < 0) {
        errors.push(fieldError.invalid('spec.replicas', replicas, 'must be greater than or equal to 0'));
      }
      return errors;
    },
  };
}

const scaleTable: TableDefinition<Scale> = {
  columns: [
    { name: 'Name', type: 'string', description: nameColumn.description },
    { name: 'Desired', type: 'integer', description: 'Desired number of Pods.' },
    { name: 'Available', type: 'integer', description: 'Current number of Pods.' },
    ageColumn,
  ],
  cells: ({ metadata, spec, status }, { nowMs }) => [
    metadata.name ?? '',
    spec?.replicas ?? 0,
    status?.replicas ?? 0,
    ageCell(metadata.creationTimestamp, nowMs),
  ],
};

const numberAt = (value: unknown, path: readonly string[]): number => asNumber(valueAt(value, path));

function withValueAt(value: unknown, [field, ...rest]: readonly string[], to: unknown): unknown {
  if (field === undefined) return to;
  return { ...asFields(value), [field]: withValueAt(valueAt(value, [field]), rest, to) };
}

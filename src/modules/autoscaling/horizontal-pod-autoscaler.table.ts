import type {
  HorizontalPodAutoscaler,
  MetricSpec,
  MetricStatus,
  MetricTarget,
  MetricValueStatus,
  ResourceMetricSource,
} from '../../catalog/types/autoscaling.v2.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

/** `toHub` converts objects of the served version to v2, whose fields all versions show. */
export const autoscalerTable = (
  toHub: (object: KubeObject) => HorizontalPodAutoscaler = (object) => object,
): TableDefinition => ({
  columns: [
    nameColumn,
    { name: 'Reference', type: 'string', description: 'Object that is scaled.' },
    { name: 'Targets', type: 'string', description: 'Current and target values of the metrics.' },
    { name: 'MinPods', type: 'string', description: 'Minimum number of replicas.' },
    { name: 'MaxPods', type: 'string', description: 'Maximum number of replicas.' },
    { name: 'Replicas', type: 'string', description: 'Current number of replicas.' },
    ageColumn,
  ],
  cells(object, { nowMs }) {
    const { metadata, spec = {}, status = {} } = toHub(object);
    const { kind = '', name = '' } = spec.scaleTargetRef ?? {};
    return [
      metadata.name ?? '',
      `${kind}/${name}`,
      metricsCell(spec.metrics ?? [], status.currentMetrics ?? []),
      spec.minReplicas === undefined ? '<unset>' : String(spec.minReplicas),
      spec.maxReplicas ?? 0,
      status.currentReplicas ?? 0,
      ageCell(metadata.creationTimestamp, nowMs),
    ];
  },
});

const unknown = '<unknown>';
const shownMax = 2;

function metricsCell(specs: readonly MetricSpec[], statuses: readonly MetricStatus[]): string {
  if (specs.length === 0) return '<none>';
  const all = specs.map((spec, index) => metricCell(spec, statuses[index] ?? {}));
  const shown = all.slice(0, shownMax).join(', ');
  return all.length > shownMax ? `${shown} + ${all.length - shownMax} more...` : shown;
}

function metricCell(spec: MetricSpec, status: MetricStatus): string {
  switch (spec.type) {
    case 'Object':
      return valueCell(spec.object?.target, status.object?.current);
    case 'External':
      return valueCell(spec.external?.target, status.external?.current);
    case 'Pods':
      return `${status.pods?.current?.averageValue || unknown}/${spec.pods?.target?.averageValue ?? ''}`;
    case 'Resource':
      return resourceCell(spec.resource, status.resource?.current);
    case 'ContainerResource':
      return resourceCell(spec.containerResource, status.containerResource?.current);
    default:
      return '<unknown type>';
  }
}

function valueCell(target: MetricTarget = {}, current: MetricValueStatus = {}): string {
  return target.averageValue === undefined
    ? `${current.value || unknown}/${target.value ?? ''}`
    : `${current.averageValue || unknown}/${target.averageValue} (avg)`;
}

function resourceCell({ name = '', target = {} }: ResourceMetricSource = {}, current: MetricValueStatus = {}): string {
  if (target.averageValue !== undefined) return `${name}: ${current.averageValue || unknown}/${target.averageValue}`;
  const percent = (share: number | undefined, otherwise: string) => (share === undefined ? otherwise : `${share}%`);
  return `${name}: ${percent(current.averageUtilization, unknown)}/${percent(target.averageUtilization, '<auto>')}`;
}

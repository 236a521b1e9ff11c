import { asFields, asItems, asNumber, asText, isSet, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

/** `toHub`: tables of the other version show what the stored one has. */
export const autoscalerTable = (toHub: (object: KubeObject) => KubeObject = (object) => object): TableDefinition => ({
  columns: [
    nameColumn,
    { name: 'Reference', type: 'string', description: 'What it scales.' },
    { name: 'Targets', type: 'string', description: 'What is measured, and what it should be.' },
    { name: 'MinPods', type: 'string', description: 'The fewest pods there may be.' },
    { name: 'MaxPods', type: 'string', description: 'The most pods there may be.' },
    { name: 'Replicas', type: 'string', description: 'The pods there are.' },
    ageColumn,
  ],
  cells(object, { nowMs }) {
    const autoscaler = toHub(object);
    const spec = asFields(autoscaler['spec']);
    const status = asFields(autoscaler['status']);
    const ref = asFields(spec['scaleTargetRef']);
    return [
      autoscaler.metadata.name ?? '',
      `${asText(ref['kind'])}/${asText(ref['name'])}`,
      metricsCell(asItems(spec['metrics']), asItems(status['currentMetrics'])),
      isSet(spec['minReplicas']) ? String(asNumber(spec['minReplicas'])) : '<unset>',
      asNumber(spec['maxReplicas']),
      asNumber(status['currentReplicas']),
      ageCell(autoscaler.metadata.creationTimestamp, nowMs),
    ];
  },
});

const unknown = '<unknown>';
const shownMax = 2;

function metricsCell(specs: readonly Fields[], statuses: readonly Fields[]): string {
  if (specs.length === 0) return '<none>';
  const all = specs.map((spec, index) => metricCell(spec, statuses[index] ?? {}));
  const shown = all.slice(0, shownMax).join(', ');
  return all.length > shownMax ? `${shown} + ${all.length - shownMax} more...` : shown;
}

function metricCell(spec: Fields, status: Fields): string {
  switch (spec['type']) {
    case 'Object':
    case 'External':
      return valueCell(spec, status, spec['type'].toLowerCase());
    case 'Pods': {
      const current = asFields(asFields(status['pods'])['current'])['averageValue'];
      return `${asText(current) || unknown}/${asText(asFields(asFields(spec['pods'])['target'])['averageValue'])}`;
    }
    case 'Resource':
      return resourceCell(asFields(spec['resource']), asFields(status['resource']));
    case 'ContainerResource':
      return resourceCell(asFields(spec['containerResource']), asFields(status['containerResource']));
    default:
      return '<unknown type>';
  }
}

function valueCell(spec: Fields, status: Fields, field: string): string {
  const target = asFields(asFields(spec[field])['target']);
  const current = asFields(asFields(status[field])['current']);
  return isSet(target['averageValue'])
    ? `${asText(current['averageValue']) || unknown}/${asText(target['averageValue'])} (avg)`
    : `${asText(current['value']) || unknown}/${asText(target['value'])}`;
}

function resourceCell(spec: Fields, status: Fields): string {
  const target = asFields(spec['target']);
  const current = asFields(status['current']);
  const percent = (share: unknown, otherwise: string) => (isSet(share) ? `${asNumber(share)}%` : otherwise);
  const name = asText(spec['name']);
  return isSet(target['averageValue'])
    ? `${name}: ${asText(current['averageValue']) || unknown}/${asText(target['averageValue'])}`
    : `${name}: ${percent(current['averageUtilization'], unknown)}/${percent(target['averageUtilization'], '<auto>')}`;
}

import { asFields, isSet, type Fields } from '../../machinery/fields.js';

/**
 * Metrics as v1 writes them: the same facts, flat. One table says for each type which field of v1 is which of the
 * stored version; both directions read it.
 */
type Renames = Readonly<Record<string, readonly string[]>>;

const shapes: Readonly<Record<string, { readonly field: string; readonly spec: Renames; readonly status: Renames }>> = {
  Object: {
    field: 'object',
    spec: {
      target: ['describedObject'],
      metricName: ['metric', 'name'],
      targetValue: ['target', 'value'],
      selector: ['metric', 'selector'],
      averageValue: ['target', 'averageValue'],
    },
    status: {
      target: ['describedObject'],
      metricName: ['metric', 'name'],
      currentValue: ['current', 'value'],
      selector: ['metric', 'selector'],
      averageValue: ['current', 'averageValue'],
    },
  },
  Pods: {
    field: 'pods',
    spec: {
      metricName: ['metric', 'name'],
      targetAverageValue: ['target', 'averageValue'],
      selector: ['metric', 'selector'],
    },
    status: {
      metricName: ['metric', 'name'],
      currentAverageValue: ['current', 'averageValue'],
      selector: ['metric', 'selector'],
    },
  },
  Resource: {
    field: 'resource',
    spec: {
      name: ['name'],
      targetAverageUtilization: ['target', 'averageUtilization'],
      targetAverageValue: ['target', 'averageValue'],
    },
    status: {
      name: ['name'],
      currentAverageUtilization: ['current', 'averageUtilization'],
      currentAverageValue: ['current', 'averageValue'],
    },
  },
  ContainerResource: {
    field: 'containerResource',
    spec: {
      name: ['name'],
      targetAverageUtilization: ['target', 'averageUtilization'],
      targetAverageValue: ['target', 'averageValue'],
      container: ['container'],
    },
    status: {
      name: ['name'],
      currentAverageUtilization: ['current', 'averageUtilization'],
      currentAverageValue: ['current', 'averageValue'],
      container: ['container'],
    },
  },
  External: {
    field: 'external',
    spec: {
      metricName: ['metric', 'name'],
      metricSelector: ['metric', 'selector'],
      targetValue: ['target', 'value'],
      targetAverageValue: ['target', 'averageValue'],
    },
    status: {
      metricName: ['metric', 'name'],
      metricSelector: ['metric', 'selector'],
      currentValue: ['current', 'value'],
      currentAverageValue: ['current', 'averageValue'],
    },
  },
};

/** A metric has one source, that of its type; what else it says is kept. */
const shapesOf = (metric: Fields) => Object.values(shapes).filter(({ field }) => isSet(metric[field]));

export const oldMetric = (metric: Fields): Fields => flattened(metric, 'spec');
export const oldMetricStatus = (metric: Fields): Fields => flattened(metric, 'status');

function flattened(metric: Fields, part: 'spec' | 'status'): Fields {
  const found: Fields = { type: metric['type'] };
  for (const shape of shapesOf(metric)) {
    const source = asFields(metric[shape.field]);
    const flat: Fields = {};
    for (const [old, place] of Object.entries(shape[part])) {
      const value = place.reduce<unknown>((at, name) => asFields(at)[name], source);
      if (isSet(value)) flat[old] = value;
      else if (alwaysThere.includes(`${shape.field}.${old}`)) flat[old] = '0';
    }
    found[shape.field] = flat;
  }
  return found;
}

/** Amounts that v1 writes even when there are none: 0 then says nothing. */
const alwaysThere = [
  'object.targetValue',
  'object.currentValue',
  'pods.targetAverageValue',
  'pods.currentAverageValue',
  'resource.currentAverageValue',
  'containerResource.currentAverageValue',
  'external.currentValue',
];

export function metricOf(old: Fields): Fields {
  const metric = unfolded(old, 'spec');
  for (const { field } of shapesOf(metric)) {
    const source = asFields(metric[field]);
    const target = asFields(source['target']);
    source['target'] = { type: targetType(target), ...target };
  }
  return metric;
}

/** The type follows from what there is to reach. */
function targetType(target: Fields): string {
  if (isSet(target['averageUtilization'])) return 'Utilization';
  return isSet(target['averageValue']) ? 'AverageValue' : 'Value';
}

export function metricStatusOf(old: Fields): Fields {
  const metric = unfolded(old, 'status');
  for (const { field } of shapesOf(metric)) asFields(metric[field])['current'] ??= {};
  return metric;
}

function unfolded(old: Fields, part: 'spec' | 'status'): Fields {
  const found: Fields = { type: old['type'] };
  for (const shape of shapesOf(old)) {
    const flat = asFields(old[shape.field]);
    const source: Fields = {};
    for (const [name, place] of Object.entries(shape[part])) {
      const value = flat[name];
      const saysNothing = value === '0' && alwaysThere.includes(`${shape.field}.${name}`);
      if (isSet(value) && !saysNothing) put(source, place, value);
    }
    found[shape.field] = source;
  }
  return found;
}

function put(owner: Fields, [name, ...rest]: readonly string[], value: unknown): void {
  if (name === undefined) return;
  if (rest.length === 0) {
    owner[name] = value;
    return;
  }
  owner[name] = { ...asFields(owner[name]) };
  put(asFields(owner[name]), rest, value);
}

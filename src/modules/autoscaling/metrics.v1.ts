import { asFields, asText, isSet, type Fields } from '../../machinery/fields.js';

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
      selector: ['metric', 'selector'],
      targetValue: ['target', 'value'],
      averageValue: ['target', 'averageValue'],
    },
    status: {
      target: ['describedObject'],
      metricName: ['metric', 'name'],
      selector: ['metric', 'selector'],
      currentValue: ['current', 'value'],
      averageValue: ['current', 'averageValue'],
    },
  },
  Pods: {
    field: 'pods',
    spec: {
      metricName: ['metric', 'name'],
      selector: ['metric', 'selector'],
      targetAverageValue: ['target', 'averageValue'],
    },
    status: {
      metricName: ['metric', 'name'],
      selector: ['metric', 'selector'],
      currentAverageValue: ['current', 'averageValue'],
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

const shapeOf = (metric: Fields) => {
  const type = asText(metric['type']);
  return Object.hasOwn(shapes, type) ? shapes[type] : undefined;
};

export const oldMetric = (metric: Fields): Fields => flattened(metric, 'spec');
export const oldMetricStatus = (metric: Fields): Fields => flattened(metric, 'status');

function flattened(metric: Fields, part: 'spec' | 'status'): Fields {
  const shape = shapeOf(metric);
  if (!shape) return metric;
  const source = asFields(metric[shape.field]);
  const flat: Fields = {};
  for (const [old, place] of Object.entries(shape[part])) {
    const value = place.reduce<unknown>((at, name) => asFields(at)[name], source);
    if (isSet(value)) flat[old] = value;
    else if (alwaysThere.includes(`${shape.field}.${old}`)) flat[old] = '0';
  }
  return { type: metric['type'], [shape.field]: flat };
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
  const shape = shapeOf(metric);
  if (!shape) return metric;
  const source = asFields(metric[shape.field]);
  const target = asFields(source['target']);
  source['target'] = { type: targetType(target), ...target };
  return metric;
}

/** The type follows from what there is to reach. */
function targetType(target: Fields): string {
  if (isSet(target['averageUtilization'])) return 'Utilization';
  return isSet(target['averageValue']) ? 'AverageValue' : 'Value';
}

export function metricStatusOf(old: Fields): Fields {
  const metric = unfolded(old, 'status');
  const shape = shapeOf(metric);
  if (shape) {
    const source = asFields(metric[shape.field]);
    source['current'] ??= {};
  }
  return metric;
}

function unfolded(old: Fields, part: 'spec' | 'status'): Fields {
  const shape = shapeOf(old);
  if (!shape) return old;
  const flat = asFields(old[shape.field]);
  const source: Fields = {};
  for (const [name, place] of Object.entries(shape[part])) {
    const value = flat[name];
    const saysNothing = value === '0' && alwaysThere.includes(`${shape.field}.${name}`);
    if (isSet(value) && !saysNothing) put(source, place, value);
  }
  return { type: old['type'], [shape.field]: source };
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

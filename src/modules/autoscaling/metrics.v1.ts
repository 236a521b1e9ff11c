import type * as v1 from '../../catalog/types/autoscaling.v1.js';
import type * as v2 from '../../catalog/types/autoscaling.v2.js';
import { asFields, isSet, valueAt, type Fields } from '../../machinery/fields.js';
import type { Mutable } from '../../machinery/mutable.js';

/**
 * Converts metrics between v2 and the flat ones of v1. For each source, the table has the path in v2 of each field of v1;
 * both directions use it.
 */
type SourceField = 'object' | 'pods' | 'resource' | 'containerResource' | 'external';
type Renames = Readonly<Record<string, readonly string[]>>;

const sources: Readonly<Record<SourceField, { readonly spec: Renames; readonly status: Renames }>> = {
  object: {
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
  pods: {
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
  resource: {
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
  containerResource: {
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
  external: {
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

type Metric = Readonly<Partial<Record<SourceField, object | undefined>>> & { readonly type?: string | undefined };

/** The sources that are set: one in a valid metric. */
const sourcesIn = (metric: Metric) =>
  (Object.keys(sources) as SourceField[]).filter((field) => metric[field] !== undefined);

export const oldMetric = (metric: v2.MetricSpec): v1.MetricSpec => flattened(metric, 'spec');
export const oldMetricStatus = (metric: v2.MetricStatus): v1.MetricStatus => flattened(metric, 'status');

function flattened(metric: Metric, part: 'spec' | 'status'): Fields {
  const found: Fields = { type: metric.type };
  for (const field of sourcesIn(metric)) {
    const flat: Fields = {};
    for (const [old, steps] of Object.entries(sources[field][part])) {
      const value = valueAt(metric[field], steps);
      if (isSet(value)) flat[old] = value;
      else if (alwaysWritten.includes(`${field}.${old}`)) flat[old] = '0';
    }
    found[field] = flat;
  }
  return found;
}

/** Amounts that v1 writes as 0 if they are not set. */
const alwaysWritten = [
  'object.targetValue',
  'object.currentValue',
  'pods.targetAverageValue',
  'pods.currentAverageValue',
  'resource.currentAverageValue',
  'containerResource.currentAverageValue',
  'external.currentValue',
];

export function metricOf(old: v1.MetricSpec): v2.MetricSpec {
  const metric: Mutable<v2.MetricSpec> = nested(old, 'spec');
  for (const field of sourcesIn(metric)) {
    const { target = {} } = metric[field]!;
    metric[field]!.target = { type: targetType(target), ...target };
  }
  return metric;
}

/** v1 has no type of a target: it follows from the field that is set. */
function targetType({ averageUtilization, averageValue }: v2.MetricTarget): string {
  if (averageUtilization !== undefined) return 'Utilization';
  return averageValue === undefined ? 'Value' : 'AverageValue';
}

export function metricStatusOf(old: v1.MetricStatus): v2.MetricStatus {
  const metric: Mutable<v2.MetricStatus> = nested(old, 'status');
  for (const field of sourcesIn(metric)) metric[field]!.current ??= {};
  return metric;
}

function nested(old: Metric, part: 'spec' | 'status'): Fields {
  const found: Fields = { type: old.type };
  for (const field of sourcesIn(old)) {
    const flat = asFields(old[field]);
    const source: Fields = {};
    for (const [name, steps] of Object.entries(sources[field][part])) {
      const value = flat[name];
      const isUnset = value === '0' && alwaysWritten.includes(`${field}.${name}`);
      if (isSet(value) && !isUnset) put(source, steps, value);
    }
    found[field] = source;
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

import type { NamingProfile } from '../../config/naming-profile.js';
import { decodeJson, stringifyJson } from '../../codec/json.js';
import { asFields, asItems, fillIn, isSet, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { metricOf, metricStatusOf, oldMetric, oldMetricStatus } from './metrics.v1.js';

/**
 * v1 knows one metric, the use of CPU. Everything else that the stored version says travels in annotations, in the
 * format that upstream has given it, so that a client of v1 can read an autoscaler and write it back unharmed.
 */
export interface AutoscalerConverters {
  readonly toHub: (object: KubeObject) => KubeObject;
  readonly fromHub: (object: KubeObject) => KubeObject;
}

export function autoscalerConverters(naming: NamingProfile): AutoscalerConverters {
  const annotation = (name: string) => naming.label(name, 'autoscaling.alpha');
  const names = {
    metrics: annotation('metrics'),
    behavior: annotation('behavior'),
    conditions: annotation('conditions'),
    currentMetrics: annotation('current-metrics'),
  };
  const carried: readonly string[] = Object.values(names);

  function withAnnotations(object: KubeObject, added: Record<string, unknown>): KubeObject['metadata'] {
    const kept = Object.entries(object.metadata.annotations ?? {}).filter(([name]) => !carried.includes(name));
    const texts = Object.entries(added).flatMap(([name, value]) =>
      isSet(value) ? [[name, stringifyJson(value)]] : [],
    );
    const { annotations: _annotations, ...metadata } = object.metadata;
    const all = Object.fromEntries([...kept, ...texts]) as Record<string, string>;
    return Object.keys(all).length === 0 ? metadata : { ...metadata, annotations: all };
  }

  function carriedIn(object: KubeObject, name: string): unknown {
    const text = object.metadata.annotations?.[name];
    if (text === undefined) return undefined;
    try {
      return decodeJson(text);
    } catch {
      // Somebody else's text: it says nothing to us, as it says nothing to other servers.
      return undefined;
    }
  }

  return {
    fromHub(object) {
      const { metrics, behavior, ...spec } = asFields(object['spec']);
      const { currentMetrics, conditions, ...status } = asFields(object['status']);
      const list = asItems(metrics);
      const cpu = list.find(isCpuUtilization);
      const statuses = asItems(currentMetrics);
      const used = statuses.map(cpuUse).find(isSet);
      const others = list.filter((metric) => !isCpuUtilization(metric));
      const orNothing = (items: readonly unknown[]) => (items.length === 0 ? undefined : items);
      return {
        ...object,
        metadata: withAnnotations(object, {
          [names.metrics]: orNothing(others.map(oldMetric)),
          [names.behavior]: isSet(behavior) ? writtenBehavior(asFields(behavior)) : undefined,
          [names.conditions]: orNothing(asItems(conditions)),
          [names.currentMetrics]: orNothing(statuses.map(oldMetricStatus)),
        }),
        spec: {
          ...spec,
          ...(cpu && { targetCPUUtilizationPercentage: utilizationOf(cpu) }),
        },
        status: {
          currentReplicas: 0,
          desiredReplicas: 0,
          ...status,
          ...(isSet(used) && { currentCPUUtilizationPercentage: used }),
        },
      };
    },

    toHub(object) {
      const { targetCPUUtilizationPercentage: share, ...spec } = asFields(object['spec']);
      const { currentCPUUtilizationPercentage: used, ...status } = asFields(object['status']);
      const metrics = asItems(carriedIn(object, names.metrics)).map(metricOf);
      if (isSet(share)) metrics.push(cpuMetric(share));
      const behavior = readBehavior(carriedIn(object, names.behavior));
      const conditions = asItems(carriedIn(object, names.conditions));
      const statuses = asItems(carriedIn(object, names.currentMetrics)).map(metricStatusOf);
      if (statuses.length === 0 && isSet(used)) statuses.push(cpuStatus(used));
      const hubSpec: Fields = { ...spec };
      if (metrics.length > 0) hubSpec['metrics'] = metrics;
      if (isSet(behavior)) hubSpec['behavior'] = behavior;
      const hubStatus: Fields = { ...status, currentMetrics: statuses.length > 0 ? statuses : null };
      if (conditions.length > 0) hubStatus['conditions'] = conditions;
      fillIn(hubStatus, 'desiredReplicas', 0);
      if (hubStatus['currentReplicas'] === 0) delete hubStatus['currentReplicas'];
      return { ...object, metadata: withAnnotations(object, {}), spec: hubSpec, status: hubStatus };
    },
  };
}

/**
 * The annotation is a Go struct without names for JSON: its fields are capitalized, and all of them are written. Go reads
 * names in either case, and older texts of this server are in lower case.
 */
function writtenBehavior({ scaleUp, scaleDown }: Fields): Fields {
  const rules = (given: unknown): Fields | null => {
    if (!isSet(given)) return null;
    const { stabilizationWindowSeconds, selectPolicy, policies, tolerance } = asFields(given);
    return {
      StabilizationWindowSeconds: stabilizationWindowSeconds ?? null,
      SelectPolicy: selectPolicy ?? null,
      Policies: isSet(policies) ? asItems(policies).map(writtenPolicy) : null,
      Tolerance: tolerance ?? null,
    };
  };
  return { ScaleUp: rules(scaleUp), ScaleDown: rules(scaleDown) };
}

const writtenPolicy = ({ type, value, periodSeconds }: Fields): Fields => ({
  Type: type,
  Value: value,
  PeriodSeconds: periodSeconds,
});

function readBehavior(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(readBehavior);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, inner]) => isSet(inner));
  return Object.fromEntries(
    entries.map(([name, inner]) => [`${name.charAt(0).toLowerCase()}${name.slice(1)}`, readBehavior(inner)]),
  );
}

const utilizationOf = (metric: Fields): unknown =>
  asFields(asFields(metric['resource'])['target'])['averageUtilization'];

function isCpuUtilization(metric: Fields): boolean {
  return (
    metric['type'] === 'Resource' && asFields(metric['resource'])['name'] === 'cpu' && isSet(utilizationOf(metric))
  );
}

function cpuMetric(share: unknown): Fields {
  return { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: share } } };
}

function cpuUse(status: Fields): unknown {
  const resource = asFields(status['resource']);
  const isCpu = status['type'] === 'Resource' && resource['name'] === 'cpu';
  return isCpu ? asFields(resource['current'])['averageUtilization'] : undefined;
}

function cpuStatus(used: unknown): Fields {
  return { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: used } } };
}

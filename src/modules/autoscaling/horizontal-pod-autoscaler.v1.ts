import { Catalog } from '../../catalog/catalog.js';
import type * as v1 from '../../catalog/types/autoscaling.v1.js';
import type * as v2 from '../../catalog/types/autoscaling.v2.js';
import { DecodeError } from '../../std/decode-error.js';
import { decodeJson, stringifyJson } from '../../codec/json.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { isSet } from '../../machinery/fields.js';
import { isJsonObject, type JsonObject, type JsonValue, type ObjectMeta } from '../../machinery/kube-object.js';
import { ConformError } from '../../typed/conform-error.js';
import { conform } from '../../typed/conform.js';
import { metricOf, metricStatusOf, oldMetric, oldMetricStatus } from './metrics.v1.js';
import { withLowerCaseNames, writtenBehavior } from './horizontal-pod-autoscaler.annotations.js';

/**
 * v1 has fields for one metric, the CPU utilization. All else that v2 has is in annotations, in the format of upstream,
 * so that a client of v1 can read an autoscaler and write it back without losing anything.
 */
interface AutoscalerConverters {
  readonly toHub: (object: v1.HorizontalPodAutoscaler) => v2.HorizontalPodAutoscaler;
  readonly fromHub: (object: v2.HorizontalPodAutoscaler) => v1.HorizontalPodAutoscaler;
}

export function autoscalerConverters(naming: NamingProfile): AutoscalerConverters {
  const catalog = new Catalog(naming);
  const annotation = (name: string) => naming.label(name, 'autoscaling.alpha');
  const names = {
    metrics: annotation('metrics'),
    behavior: annotation('behavior'),
    conditions: annotation('conditions'),
    currentMetrics: annotation('current-metrics'),
  };
  const allNames: readonly string[] = Object.values(names);

  function withAnnotations({ metadata }: { metadata: ObjectMeta }, added: Record<string, unknown>): ObjectMeta {
    const kept = Object.entries(metadata.annotations ?? {}).filter(([name]) => !allNames.includes(name));
    const texts = Object.entries(added).flatMap(([name, value]) =>
      isSet(value) ? [[name, stringifyJson(value)]] : [],
    );
    const { annotations: _annotations, ...rest } = metadata;
    const all = Object.fromEntries([...kept, ...texts]) as Record<string, string>;
    return Object.keys(all).length === 0 ? rest : { ...rest, annotations: all };
  }

  /** The value of an annotation; undefined if it is not JSON of the type, which kube-apiserver ignores as well. */
  function decoded<T>(object: v1.HorizontalPodAutoscaler, name: string, read: (value: JsonValue) => T): T | undefined {
    const text = object.metadata.annotations?.[name];
    if (text === undefined) return undefined;
    try {
      return read(decodeJson(text));
    } catch (error) {
      if (error instanceof DecodeError || error instanceof ConformError) return undefined;
      throw error;
    }
  }

  const listOf = (struct: string) => (value: JsonValue) =>
    Array.isArray(value) ? value.map((item) => conform(item, catalog.struct(struct)).object) : [];
  const readMetrics = listOf('autoscaling.v1.MetricSpec');
  const readMetricStatuses = listOf('autoscaling.v1.MetricStatus');
  const readConditions = listOf('autoscaling.v2.HorizontalPodAutoscalerCondition');
  const readBehavior = (value: JsonValue): JsonObject | undefined => {
    if (!isJsonObject(value)) return undefined;
    const type = catalog.struct('autoscaling.v2.HorizontalPodAutoscalerBehavior');
    return conform(withLowerCaseNames(value), type, { keepsEmpties: true }).object;
  };

  return {
    fromHub(object) {
      const { metrics = [], behavior, ...spec } = object.spec ?? {};
      const { currentMetrics, conditions = [], ...status } = object.status ?? {};
      const cpu = metrics.find(isCpuUtilization);
      const statuses = currentMetrics ?? [];
      const used = statuses.map(currentCpuUtilization).find(isSet);
      const others = metrics.filter((metric) => !isCpuUtilization(metric));
      const orNothing = (items: readonly unknown[]) => (items.length === 0 ? undefined : items);
      return {
        ...object,
        metadata: withAnnotations(object, {
          [names.metrics]: orNothing(others.map(oldMetric)),
          [names.behavior]: behavior && writtenBehavior(behavior),
          [names.conditions]: orNothing(conditions),
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
          ...(used !== undefined && { currentCPUUtilizationPercentage: used }),
        },
      };
    },

    toHub(object) {
      const { targetCPUUtilizationPercentage: share, ...spec } = object.spec ?? {};
      const { currentCPUUtilizationPercentage: used, ...status } = object.status ?? {};
      const metrics = (decoded(object, names.metrics, readMetrics) ?? []).map(metricOf);
      if (share !== undefined) metrics.push(cpuMetric(share));
      const behavior = decoded(object, names.behavior, readBehavior);
      const conditions = decoded(object, names.conditions, readConditions) ?? [];
      const statuses = (decoded(object, names.currentMetrics, readMetricStatuses) ?? []).map(metricStatusOf);
      if (statuses.length === 0 && used !== undefined) statuses.push(cpuStatus(used));
      const { currentReplicas, ...hubStatus } = status;
      return {
        ...object,
        metadata: withAnnotations(object, {}),
        spec: { ...spec, ...(metrics.length > 0 && { metrics }), ...(behavior && { behavior }) },
        status: {
          ...(currentReplicas ? status : hubStatus),
          currentMetrics: statuses.length > 0 ? statuses : null,
          ...(conditions.length > 0 && { conditions }),
          desiredReplicas: status.desiredReplicas ?? 0,
        },
      };
    },
  };
}

const utilizationOf = ({ resource }: v2.MetricSpec): number | undefined => resource?.target?.averageUtilization;

function isCpuUtilization(metric: v2.MetricSpec): boolean {
  return metric.type === 'Resource' && metric.resource?.name === 'cpu' && utilizationOf(metric) !== undefined;
}

function cpuMetric(share: number): v2.MetricSpec {
  return { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: share } } };
}

function currentCpuUtilization({ type, resource }: v2.MetricStatus): number | undefined {
  return type === 'Resource' && resource?.name === 'cpu' ? resource.current?.averageUtilization : undefined;
}

function cpuStatus(used: number): v2.MetricStatus {
  return { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: used } } };
}

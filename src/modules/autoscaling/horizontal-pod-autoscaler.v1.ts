import type * as v1 from '../../catalog/types/autoscaling.v1.js';
import type * as v2 from '../../catalog/types/autoscaling.v2.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { isSet } from '../../machinery/fields.js';
import { AutoscalerAnnotations } from './horizontal-pod-autoscaler.annotations.js';
import { metricOf, metricStatusOf, oldMetric, oldMetricStatus } from './metrics.v1.js';

/**
 * v1 has fields for one metric, the CPU utilization. All else that v2 has is in annotations, in the format of upstream,
 * so that a client of v1 can read an autoscaler and write it back without losing anything.
 */
interface AutoscalerConverters {
  readonly toHub: (object: v1.HorizontalPodAutoscaler) => v2.HorizontalPodAutoscaler;
  readonly fromHub: (object: v2.HorizontalPodAutoscaler) => v1.HorizontalPodAutoscaler;
}

export function autoscalerConverters(naming: NamingProfile): AutoscalerConverters {
  const annotations = new AutoscalerAnnotations(naming);
  return {
    fromHub(object) {
      const { metrics = [], behavior, ...spec } = object.spec ?? {};
      const { currentMetrics, conditions = [], ...status } = object.status ?? {};
      const cpu = metrics.find(isCpuUtilization);
      const statuses = currentMetrics ?? [];
      const used = statuses.map(currentCpuUtilization).find(isSet);
      const others = metrics.filter((metric) => !isCpuUtilization(metric));
      return {
        ...object,
        metadata: annotations.replaced(object.metadata, {
          metrics: others.map(oldMetric),
          behavior,
          conditions,
          currentMetrics: statuses.map(oldMetricStatus),
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
      const read = annotations.read(object);
      const metrics = read.metrics.map(metricOf);
      if (share !== undefined) metrics.push(cpuMetric(share));
      const { behavior, conditions } = read;
      const statuses = read.currentMetrics.map(metricStatusOf);
      if (statuses.length === 0 && used !== undefined) statuses.push(cpuStatus(used));
      const { currentReplicas, ...hubStatus } = status;
      return {
        ...object,
        metadata: annotations.replaced(object.metadata),
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

import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerBehavior,
  HorizontalPodAutoscalerStatus,
  HPAScalingRules,
  MetricTarget,
} from '../../catalog/types/autoscaling.v2.js';
import type { Mutable } from '../../machinery/mutable.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { fillConditionTimes } from '../core/condition-times.js';
import { normalizeAmounts } from '../core/pod/pod-resources.js';
import { validateAutoscaler, validateAutoscalerStatus } from './horizontal-pod-autoscaler.validation.js';

export const autoscalerStrategy: Strategy<HorizontalPodAutoscaler> = {
  validateName: nameIsDnsSubdomain,
  default: defaultAutoscaler,
  initialStatus: () => withDefaults({}),
  validateCreate: (autoscaler) => validateAutoscaler(autoscaler),
  validateUpdate: validateAutoscaler,
};

const defaultUtilization = 80;

function defaultAutoscaler(autoscaler: Mutable<HorizontalPodAutoscaler>): void {
  const spec = (autoscaler.spec ??= {});
  spec.scaleTargetRef ??= {};
  spec.minReplicas ??= 1;
  if (!spec.metrics?.length) {
    const target = { type: 'Utilization', averageUtilization: defaultUtilization };
    spec.metrics = [{ type: 'Resource', resource: { name: 'cpu', target } }];
  }
  for (const metric of spec.metrics) {
    for (const source of sources) normalizeTarget(metric[source]?.target);
  }
  if (spec.behavior) defaultBehavior(spec.behavior);
  withDefaults((autoscaler.status ??= {}));
  fillConditionTimes(autoscaler, 'lastTransitionTime');
}

const sources = ['object', 'pods', 'resource', 'containerResource', 'external'] as const;

function normalizeTarget(target: Mutable<MetricTarget> = {}): void {
  const { value, averageValue } = target;
  if (value !== undefined) target.value = normalized(value);
  if (averageValue !== undefined) target.averageValue = normalized(averageValue);
}

function normalized(amount: string): string {
  const amounts = { amount };
  normalizeAmounts(amounts);
  return amounts.amount;
}

function withDefaults(status: Mutable<HorizontalPodAutoscalerStatus>): HorizontalPodAutoscalerStatus {
  status.desiredReplicas ??= 0;
  status.currentMetrics ??= null;
  return status;
}

/** If spec.behavior is set, both scaleUp and scaleDown get their defaults. */
function defaultBehavior(behavior: Mutable<HorizontalPodAutoscalerBehavior>): void {
  const up = (behavior.scaleUp ??= {});
  up.stabilizationWindowSeconds ??= 0;
  up.selectPolicy ??= 'Max';
  up.policies ??= [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ];
  const down = (behavior.scaleDown ??= {});
  down.selectPolicy ??= 'Max';
  down.policies ??= [{ type: 'Percent', value: 100, periodSeconds: 15 }];
  normalizeRules(up);
  normalizeRules(down);
}

function normalizeRules(rules: Mutable<HPAScalingRules>): void {
  for (const policy of rules.policies ?? []) {
    policy.type ??= '';
    policy.value ??= 0;
    policy.periodSeconds ??= 0;
  }
  if (rules.tolerance !== undefined) rules.tolerance = normalized(rules.tolerance);
}

export const autoscalerStatusSubresource = statusSubresource<HorizontalPodAutoscaler>({
  validate: validateAutoscalerStatus,
});

import { asFields, asItems, fillIn, isSet, makeFields, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { fillConditionTimes } from '../core/condition-times.js';
import { normalizeAmounts } from '../core/pod/pod-resources.js';
import { validateAutoscaler, validateAutoscalerStatus } from './horizontal-pod-autoscaler.validation.js';

export const autoscalerStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  default: defaultAutoscaler,
  prepareForCreate(autoscaler) {
    autoscaler['status'] = {};
    fillStatus(autoscaler);
  },
  prepareForUpdate(autoscaler, old) {
    autoscaler['status'] = old['status'];
  },
  validateCreate: (autoscaler) => validateAutoscaler(autoscaler),
  validateUpdate: validateAutoscaler,
};

const usualUtilization = 80;

function defaultAutoscaler(autoscaler: KubeObject): void {
  const spec = makeFields(autoscaler, 'spec');
  fillIn(spec, 'scaleTargetRef', {});
  fillIn(spec, 'minReplicas', 1);
  if (asItems(spec['metrics']).length === 0) {
    const target = { type: 'Utilization', averageUtilization: usualUtilization };
    spec['metrics'] = [{ type: 'Resource', resource: { name: 'cpu', target } }];
  }
  for (const metric of asItems(spec['metrics'])) {
    for (const source of sources) {
      const { target } = asFields(metric[source]);
      normalizeFields(asFields(target), 'value', 'averageValue');
    }
  }
  if (isSet(spec['behavior'])) defaultBehavior(asFields(spec['behavior']));
  fillStatus(autoscaler);
  fillConditionTimes(autoscaler, 'lastTransitionTime');
}

const sources = ['object', 'pods', 'resource', 'containerResource', 'external'];

function normalizeFields(owner: Fields, ...fields: string[]): void {
  const amounts = Object.fromEntries(fields.flatMap((field) => (isSet(owner[field]) ? [[field, owner[field]]] : [])));
  normalizeAmounts(amounts);
  Object.assign(owner, amounts);
}

function fillStatus(autoscaler: KubeObject): void {
  const status = makeFields(autoscaler, 'status');
  fillIn(status, 'desiredReplicas', 0);
  status['currentMetrics'] ??= null;
}

/** Who says anything about how it moves is told all of it. */
function defaultBehavior(behavior: Fields): void {
  const up = makeFields(behavior, 'scaleUp');
  fillIn(up, 'stabilizationWindowSeconds', 0);
  fillIn(up, 'selectPolicy', 'Max');
  fillIn(up, 'policies', [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ]);
  const down = makeFields(behavior, 'scaleDown');
  fillIn(down, 'selectPolicy', 'Max');
  fillIn(down, 'policies', [{ type: 'Percent', value: 100, periodSeconds: 15 }]);
  for (const rules of [up, down]) {
    for (const policy of asItems(rules['policies'])) {
      fillIn(policy, 'type', '');
      for (const field of ['value', 'periodSeconds']) fillIn(policy, field, 0);
    }
    normalizeFields(rules, 'tolerance');
  }
}

export const autoscalerStatusSubresource = statusSubresource({ validate: validateAutoscalerStatus });

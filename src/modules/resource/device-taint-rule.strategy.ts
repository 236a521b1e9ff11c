import type { DeviceTaintRule } from '../../catalog/types/resource.v1alpha3.js';
import { validateConditions } from '../../machinery/condition-validation.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { checked } from '../../machinery/field-rules.js';
import type { Mutable } from '../../machinery/mutable.js';
import { nameIsDnsSubdomain, validateDnsLabel } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateDriverName } from '../storage/parameters.validation.js';
import { validateDeviceTaint } from './device-rules.validation.js';
import { validatePoolName } from './names.validation.js';
import { stampTaint } from './taint-times.js';

const at = path('spec');

export const deviceTaintRuleStrategy: Strategy<DeviceTaintRule> = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  prepareForCreate(rule, { now }) {
    stampTaint(taintOf(rule), now);
  },
  /** Sets timeAdded anew if the effect changes, unless the client changes timeAdded too. */
  prepareForUpdate(rule, old, { now }) {
    const [taint, before] = [taintOf(rule), taintOf(old)];
    if (taint.effect !== before.effect && taint.timeAdded === before.timeAdded) {
      taint.timeAdded = now;
    }
    stampTaint(taint, now);
  },
  validateCreate: validateRule,
  validateUpdate: validateRule,
};

const taintOf = (rule: Mutable<DeviceTaintRule>) => ((rule.spec ??= {}).taint ??= {});

function validateRule({ spec = {} }: DeviceTaintRule): FieldError[] {
  const { deviceSelector = {}, taint = {} } = spec;
  const { driver, pool, device } = deviceSelector;
  const selectorAt = at.child('deviceSelector');
  return [
    ...(driver === undefined ? [] : validateDriverName(driver, selectorAt.child('driver'))),
    ...(pool === undefined ? [] : validatePoolName(pool, selectorAt.child('pool'))),
    ...(device === undefined ? [] : checked(device, selectorAt.child('device'), validateDnsLabel)),
    ...validateDeviceTaint(taint, at.child('taint')),
  ];
}

const conditionsMax = 8;

export const deviceTaintRuleStatusSubresource = statusSubresource<DeviceTaintRule>({
  keepsMetadata: true,
  validate({ status = {} }) {
    const { conditions = [] } = status;
    const conditionsAt = path('status').child('conditions');
    const count = conditions.length;
    return [
      ...(count > conditionsMax ? [fieldError.tooMany(conditionsAt, count, conditionsMax)] : []),
      ...validateConditions(conditions, conditionsAt),
    ];
  },
});

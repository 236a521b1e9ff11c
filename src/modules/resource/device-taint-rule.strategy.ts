import { validateConditions } from '../../machinery/condition-validation.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { checked } from '../../machinery/field-rules.js';
import { asFields, asItems, asText, isSet, makeFields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain, validateDnsLabel } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateDriverName } from '../storage/parameters.validation.js';
import { validateDeviceTaint } from './device-rules.validation.js';
import { validatePoolName } from './names.validation.js';
import { stampTaint } from './taint-times.js';

const at = path('spec');

export const deviceTaintRuleStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  prepareForCreate(rule, { now }) {
    stampTaint(taintOf(rule), now);
    rule['status'] = {};
  },
  /** Another effect begins anew, unless the client says since when. */
  prepareForUpdate(rule, old, { now }) {
    const [taint, before] = [taintOf(rule), taintOf(old)];
    if (taint['effect'] !== before['effect'] && deepEqual(taint['timeAdded'], before['timeAdded'])) {
      taint['timeAdded'] = now;
    }
    stampTaint(taint, now);
    rule['status'] = old['status'];
  },
  validateCreate: validateRule,
  validateUpdate: validateRule,
};

const taintOf = (rule: KubeObject) => makeFields(makeFields(rule, 'spec'), 'taint');

function validateRule(rule: KubeObject): FieldError[] {
  const { deviceSelector, taint } = asFields(rule['spec']);
  const { driver, pool, device } = asFields(deviceSelector);
  const selectorAt = at.child('deviceSelector');
  return [
    ...(isSet(driver) ? validateDriverName(asText(driver), selectorAt.child('driver')) : []),
    ...(isSet(pool) ? validatePoolName(asText(pool), selectorAt.child('pool')) : []),
    ...(isSet(device) ? checked(asText(device), selectorAt.child('device'), validateDnsLabel) : []),
    ...validateDeviceTaint(asFields(taint), at.child('taint')),
  ];
}

const conditionsMax = 8;

export const deviceTaintRuleStatusSubresource = statusSubresource({
  keepsMetadata: true,
  validate(rule) {
    const { conditions } = asFields(rule['status']);
    const conditionsAt = path('status').child('conditions');
    const count = asItems(conditions).length;
    return [
      ...(count > conditionsMax ? [fieldError.tooMany(String(conditionsAt), count, conditionsMax)] : []),
      ...validateConditions(conditions, conditionsAt),
    ];
  },
});

import { asFields, makeFields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { normalizeAmounts } from './pod/pod-resources.js';
import { validateQuota, validateQuotaStatus, validateQuotaUpdate } from './resource-quota.validation.js';

export const resourceQuotaStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  default: defaultQuota,
  prepareForCreate(quota) {
    quota['status'] = {};
  },
  prepareForUpdate(quota, old) {
    quota['status'] = old['status'];
  },
  validateCreate: validateQuota,
  validateUpdate: validateQuotaUpdate,
};

function defaultQuota(quota: KubeObject): void {
  normalizeAmounts(makeFields(quota, 'spec')['hard']);
  const status = makeFields(quota, 'status');
  for (const amounts of ['hard', 'used']) normalizeAmounts(asFields(status)[amounts]);
}

export const resourceQuotaStatusSubresource = statusSubresource({ validate: validateQuotaStatus });

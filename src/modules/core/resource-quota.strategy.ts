import type { ResourceQuota } from '../../catalog/types/core.v1.js';
import type { Mutable } from '../../machinery/mutable.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { normalizeAmounts } from './pod/pod-resources.js';
import { validateQuota, validateQuotaStatus, validateQuotaUpdate } from './resource-quota.validation.js';

export const resourceQuotaStrategy: Strategy<ResourceQuota> = {
  validateName: nameIsDnsSubdomain,
  default: defaultQuota,
  validateCreate: validateQuota,
  validateUpdate: validateQuotaUpdate,
};

function defaultQuota(quota: Mutable<ResourceQuota>): void {
  const spec = (quota.spec ??= {});
  normalizeAmounts(spec.hard);
  const status = (quota.status ??= {});
  normalizeAmounts(status.hard);
  normalizeAmounts(status.used);
}

export const resourceQuotaStatusSubresource = statusSubresource<ResourceQuota>({ validate: validateQuotaStatus });

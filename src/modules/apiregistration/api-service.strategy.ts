import type { APIService } from '../../catalog/types/apiregistration.v1.js';
import { path } from '../../machinery/field-error.js';
import { each, oneOf } from '../../machinery/field-rules.js';
import { validatePathSegment } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateApiService } from './api-service.validation.js';

const portDefault = 443;

/** The server of an API version: this server, or an extension API server behind a Service. */
export const apiServiceStrategy: Strategy<APIService> = {
  validateName: validatePathSegment,
  default(service) {
    const spec = (service.spec ??= {});
    if (spec.service) spec.service.port ??= portDefault;
    service.status ??= {};
  },
  initialStatus({ spec = {} }, { now }) {
    const isLocal = spec.service === undefined;
    return isLocal ? { conditions: [{ ...locallyAvailable, lastTransitionTime: now }] } : {};
  },
  validateCreate: validateApiService,
  validateUpdate: validateApiService,
};

const locallyAvailable = {
  type: 'Available',
  status: 'True',
  reason: 'Local',
  message: 'Local APIServices are always available',
} as const;

export const apiServiceStatusSubresource = statusSubresource<APIService>({
  keepsMetadata: true,
  validate: ({ status = {} }) =>
    each(status.conditions, path('status').child('conditions'), (condition, at) =>
      oneOf(condition.status ?? '', at.child('status'), ['True', 'False', 'Unknown']),
    ),
});

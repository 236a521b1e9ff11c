import { path } from '../../machinery/field-error.js';
import { each, oneOf } from '../../machinery/field-rules.js';
import { asFields, fillIn, isSet, makeFields } from '../../machinery/fields.js';
import { validatePathSegment } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateApiService } from './api-service.validation.js';

const portDefault = 443;

/** Who serves a version of a group: this server itself, or another one behind a Service. */
export const apiServiceStrategy: Strategy = {
  validateName: validatePathSegment,
  default(service) {
    const spec = makeFields(service, 'spec');
    if (isSet(spec['service'])) fillIn(asFields(spec['service']), 'port', portDefault);
    makeFields(service, 'status');
  },
  prepareForCreate(service, { now }) {
    const isLocal = !isSet(asFields(service['spec'])['service']);
    service['status'] = isLocal ? { conditions: [{ ...locallyAvailable, lastTransitionTime: now }] } : {};
  },
  prepareForUpdate(service, old) {
    service['status'] = old['status'];
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

export const apiServiceStatusSubresource = statusSubresource({
  keepsMetadata: true,
  validate: (service) =>
    each(asFields(service['status'])['conditions'], path('status').child('conditions'), ({ status }, at) =>
      oneOf(status ?? '', at.child('status'), ['True', 'False', 'Unknown']),
    ),
});

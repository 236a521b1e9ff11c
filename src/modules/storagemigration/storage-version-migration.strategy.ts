import { validateConditions } from '../../machinery/condition-validation.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { checked, requiredName } from '../../machinery/field-rules.js';
import { asFields, asItems, asText } from '../../machinery/fields.js';
import { immutable } from '../../machinery/immutable.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain, validateDns1035Label, validateDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';

const at = path('spec').child('resource');
const statusAt = path('status');

export const migrationStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  prepareForCreate(migration) {
    migration['status'] = {};
  },
  prepareForUpdate(migration, old) {
    migration['status'] = old['status'];
  },
  validateCreate: validateResource,
  /** It is under way, or done: another resource is another migration. */
  validateUpdate: (migration, old) => [
    ...validateResource(migration),
    ...immutable(asFields(migration['spec'])['resource'], asFields(old['spec'])['resource'], at),
  ],
};

function validateResource(migration: KubeObject): FieldError[] {
  const { group, resource } = asFields(asFields(migration['spec'])['resource']);
  return [
    ...(asText(group) === '' ? [] : checked(asText(group), at.child('group'), validateDnsSubdomain)),
    ...requiredName(asText(resource), at.child('resource'), validateDns1035Label),
  ];
}

const ends = ['Succeeded', 'Failed'];

export const migrationStatusSubresource = statusSubresource({
  keepsMetadata: true,
  validate(migration, old) {
    const status = asFields(migration['status']);
    const before = asFields(old['status']);
    const version = asText(status['resourceVersion']);
    const versionAt = statusAt.child('resourceVersion');
    const conditionsAt = statusAt.child('conditions');
    const errors = validateConditions(status['conditions'], conditionsAt);
    if (asText(before['resourceVersion']) !== '') {
      errors.push(...immutable(version, before['resourceVersion'], versionAt));
    } else if (version !== '' && !/^(0|[1-9]\d*)$/.test(version)) {
      errors.push(fieldError.invalid(String(versionAt), version, 'must be a valid resource version'));
    }
    const now = conditionTypes(status['conditions']);
    if (ends.every((type) => now.has(type))) {
      const message = 'Both success and failed conditions cannot be true at the same time';
      errors.push(fieldError.invalid(String(conditionsAt), status['conditions'], message));
    }
    for (const type of ends.filter((end) => conditionTypes(before['conditions']).has(end) && !now.has(end))) {
      const message = `${type} condition cannot be set to false once it is true`;
      errors.push(fieldError.invalid(String(conditionsAt), status['conditions'], message));
    }
    return errors;
  },
});

const conditionTypes = (conditions: unknown): Set<string> =>
  new Set(
    asItems(conditions)
      .filter((condition) => condition['status'] === 'True')
      .map((condition) => asText(condition['type'])),
  );

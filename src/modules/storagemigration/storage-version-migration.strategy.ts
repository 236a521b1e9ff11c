import type { Condition } from '../../catalog/types/meta.v1.js';
import type { StorageVersionMigration } from '../../catalog/types/storagemigration.v1beta1.js';
import { validateConditions } from '../../machinery/condition-validation.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { checked, requiredName } from '../../machinery/field-rules.js';
import { immutable } from '../../machinery/immutable.js';
import { nameIsDnsSubdomain, validateDns1035Label, validateDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';

const at = path('spec').child('resource');
const statusAt = path('status');

export const migrationStrategy: Strategy<StorageVersionMigration> = {
  validateName: nameIsDnsSubdomain,
  validateCreate: validateResource,
  validateUpdate: (migration, old) => [
    ...validateResource(migration),
    ...immutable(migration.spec?.resource, old.spec?.resource, at),
  ],
};

function validateResource({ spec }: StorageVersionMigration): FieldError[] {
  const { group = '', resource = '' } = spec?.resource ?? {};
  return [
    ...(group === '' ? [] : checked(group, at.child('group'), validateDnsSubdomain)),
    ...requiredName(resource, at.child('resource'), validateDns1035Label),
  ];
}

const terminalTypes = ['Succeeded', 'Failed'];

export const migrationStatusSubresource = statusSubresource<StorageVersionMigration>({
  keepsMetadata: true,
  validate(migration, old) {
    const { resourceVersion: version = '', conditions } = migration.status ?? {};
    const before = old.status ?? {};
    const versionAt = statusAt.child('resourceVersion');
    const conditionsAt = statusAt.child('conditions');
    const errors = validateConditions(conditions, conditionsAt);
    if (before.resourceVersion) {
      errors.push(...immutable(version, before.resourceVersion, versionAt));
    } else if (version !== '' && !/^(0|[1-9]\d*)$/.test(version)) {
      errors.push(fieldError.invalid(versionAt, version, 'must be a valid resource version'));
    }
    const now = trueTypes(conditions);
    if (terminalTypes.every((type) => now.has(type))) {
      const message = 'Both success and failed conditions cannot be true at the same time';
      errors.push(fieldError.invalid(conditionsAt, conditions, message));
    }
    for (const type of terminalTypes.filter((type) => trueTypes(before.conditions).has(type) && !now.has(type))) {
      const message = `${type} condition cannot be set to false once it is true`;
      errors.push(fieldError.invalid(conditionsAt, conditions, message));
    }
    return errors;
  },
});

const trueTypes = (conditions: readonly Condition[] = []): Set<string> =>
  new Set(conditions.filter(({ status }) => status === 'True').map(({ type = '' }) => type));

import type { DeviceClass } from '../../catalog/types/resource.v1.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { checked } from '../../machinery/field-rules.js';
import { nameIsDnsSubdomain, validateQualifiedName } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import type { Steps } from '../../std/steps.js';
import { configurationsMax } from './claim-spec.validation.js';
import { validateConfiguration, validateSelectors } from './device-rules.validation.js';
import { validateList } from './lists.validation.js';

const at = path('spec');

export const deviceClassStrategy: Strategy<DeviceClass> = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  validateInSteps: validateDeviceClass,
};

function* validateDeviceClass({ spec = {} }: DeviceClass, old: DeviceClass | undefined): Steps<FieldError[]> {
  const { selectors, config, extendedResourceName } = spec;
  const isUnchanged = old !== undefined && deepEqual(selectors ?? [], old.spec?.selectors ?? []);
  return [
    ...(yield* validateSelectors(selectors, at.child('selectors'), isUnchanged ? 'stored' : 'new')),
    ...validateList(config, configurationsMax, at.child('config'), validateConfiguration),
    ...(extendedResourceName === undefined ? [] : validateExtendedResource(extendedResourceName)),
  ];
}

/** Requires a name with a domain, and without the prefix of resource quotas, since containers request the resource. */
function validateExtendedResource(name: string): FieldError[] {
  const nameAt = at.child('extendedResourceName');
  const problems = checked(name, nameAt, validateQualifiedName);
  if (problems.length > 0 || (name.includes('/') && !name.startsWith('requests.'))) return problems;
  return [fieldError.invalid(nameAt, name, 'must be a valid extended resource name')];
}

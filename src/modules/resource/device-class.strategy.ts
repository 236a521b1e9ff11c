import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { checked } from '../../machinery/field-rules.js';
import { asFields, asText, isSet } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain, validateQualifiedName } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { configurationsMax } from './claim-spec.validation.js';
import { validateConfiguration, validateSelectors } from './device-rules.validation.js';
import { validateList } from './lists.validation.js';

const at = path('spec');

export const deviceClassStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  validateCreate: validateDeviceClass,
  validateUpdate: validateDeviceClass,
};

function validateDeviceClass(deviceClass: KubeObject): FieldError[] {
  const { selectors, config, extendedResourceName: extended } = asFields(deviceClass['spec']);
  return [
    ...validateSelectors(selectors, at.child('selectors')),
    ...validateList(config, configurationsMax, at.child('config'), validateConfiguration),
    ...(isSet(extended) ? validateExtendedResource(asText(extended)) : []),
  ];
}

/** Pods ask for it as for any resource, so its name is one with a domain, and none of the cluster's own. */
function validateExtendedResource(name: string): FieldError[] {
  const nameAt = at.child('extendedResourceName');
  const problems = checked(name, nameAt, validateQualifiedName);
  if (problems.length > 0 || (name.includes('/') && !name.startsWith('requests.'))) return problems;
  return [fieldError.invalid(String(nameAt), name, 'must be a valid extended resource name')];
}

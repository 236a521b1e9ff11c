import type { APIService, APIServiceSpec, ServiceReference } from '../../catalog/types/apiregistration.v1.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, required } from '../../machinery/field-rules.js';
import {
  validateDns1035Label,
  validateDnsSubdomain,
  validatePathSegment,
  validatePortNumber,
} from '../../machinery/names.js';

const groupPriorityMax = 20_000;
const versionPriorityMax = 1000;

export function validateApiService({ metadata, spec = {} }: APIService): FieldError[] {
  const at = path('spec');
  const { group = '', version = '' } = spec;
  const errors = validateName(metadata.name ?? '', `${version}.${group}`);
  if (group === '' && version !== 'v1') {
    errors.push(...required('', at.child('group'), 'only v1 may have an empty group and it better be legacy kube'));
  }
  return [
    ...errors,
    ...(group === '' ? [] : checked(group, at.child('group'), validateDnsSubdomain)),
    ...checked(version, at.child('version'), validateDns1035Label),
    ...validatePriority(spec.groupPriorityMinimum, groupPriorityMax, at.child('groupPriorityMinimum')),
    ...validatePriority(spec.versionPriority, versionPriorityMax, at.child('versionPriority')),
    ...(spec.service ? validateRemote(spec, spec.service, at) : validateLocal(spec, at)),
  ];
}

/** Requires the name `version.group`. Names that are no path segments have an error already. */
function validateName(name: string, expected: string): FieldError[] {
  if (name === expected || validatePathSegment(name).length > 0) return [];
  return [fieldError.invalid('metadata.name', name, `must be \`spec.version+"."+spec.group\`: "${expected}"`)];
}

function validatePriority(value = 0, max: number, at: FieldPath): FieldError[] {
  if (value > 0 && value <= max) return [];
  return [fieldError.invalid(at, value, `must be positive and less than ${max}`)];
}

function validateLocal(spec: APIServiceSpec, at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const bundle = Buffer.from(spec.caBundle ?? '', 'base64');
  if (bundle.length > 0) {
    const message = 'local APIServices may not have a caBundle';
    errors.push(fieldError.invalid(at.child('caBundle'), `${bundle.length} bytes`, message));
  }
  if (spec.insecureSkipTLSVerify) {
    const message = 'local APIServices may not have insecureSkipTLSVerify';
    errors.push(fieldError.invalid(at.child('insecureSkipTLSVerify'), true, message));
  }
  return errors;
}

function validateRemote(
  { insecureSkipTLSVerify, caBundle }: APIServiceSpec,
  { namespace, name, port = 0 }: ServiceReference,
  at: FieldPath,
): FieldError[] {
  const serviceAt = at.child('service');
  const errors = [
    ...required(namespace, serviceAt.child('namespace')),
    ...required(name, serviceAt.child('name')),
    ...validatePortNumber(port).map((problem) =>
      fieldError.invalid(serviceAt.child('port'), port, `port is not valid: ${problem}`),
    ),
  ];
  if (insecureSkipTLSVerify && caBundle) {
    const message = 'may not be true if caBundle is present';
    errors.push(fieldError.invalid(at.child('insecureSkipTLSVerify'), true, message));
  }
  return errors;
}

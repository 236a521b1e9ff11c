import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, required } from '../../machinery/field-rules.js';
import { asFields, asNumber, asText, isSet, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import {
  validateDns1035Label,
  validateDnsSubdomain,
  validatePathSegment,
  validatePortNumber,
} from '../../machinery/names.js';

const groupPriorityMax = 20_000;
const versionPriorityMax = 1000;

export function validateApiService(service: KubeObject): FieldError[] {
  const spec = asFields(service['spec']);
  const at = path('spec');
  const group = asText(spec['group']);
  const version = asText(spec['version']);
  const errors = validateName(service.metadata.name ?? '', `${version}.${group}`);
  if (group === '' && version !== 'v1') {
    errors.push(...required('', at.child('group'), 'only v1 may have an empty group and it better be legacy kube'));
  }
  return [
    ...errors,
    ...(group === '' ? [] : checked(group, at.child('group'), validateDnsSubdomain)),
    ...checked(version, at.child('version'), validateDns1035Label),
    ...validatePriority(spec, 'groupPriorityMinimum', groupPriorityMax, at),
    ...validatePriority(spec, 'versionPriority', versionPriorityMax, at),
    ...(isSet(spec['service']) ? validateRemote(spec, at) : validateLocal(spec, at)),
  ];
}

/** A name that is no path segment is refused as such. */
function validateName(name: string, expected: string): FieldError[] {
  if (name === expected || validatePathSegment(name).length > 0) return [];
  return [fieldError.invalid('metadata.name', name, `must be \`spec.version+"."+spec.group\`: "${expected}"`)];
}

function validatePriority(spec: Fields, field: string, max: number, at: FieldPath): FieldError[] {
  const value = asNumber(spec[field]);
  if (value > 0 && value <= max) return [];
  return [fieldError.invalid(at.child(field), value, `must be positive and less than ${max}`)];
}

function validateLocal(spec: Fields, at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const bundle = Buffer.from(asText(spec['caBundle']), 'base64');
  if (bundle.length > 0) {
    const message = 'local APIServices may not have a caBundle';
    errors.push(fieldError.invalid(at.child('caBundle'), `${bundle.length} bytes`, message));
  }
  if (spec['insecureSkipTLSVerify'] === true) {
    const message = 'local APIServices may not have insecureSkipTLSVerify';
    errors.push(fieldError.invalid(at.child('insecureSkipTLSVerify'), true, message));
  }
  return errors;
}

function validateRemote(spec: Fields, at: FieldPath): FieldError[] {
  const { namespace, name, port } = asFields(spec['service']);
  const where = at.child('service');
  const errors = [
    ...required(namespace, where.child('namespace')),
    ...required(name, where.child('name')),
    ...validatePortNumber(asNumber(port)).map((problem) =>
      fieldError.invalid(where.child('port'), asNumber(port), `port is not valid: ${problem}`),
    ),
  ];
  if (spec['insecureSkipTLSVerify'] === true && asText(spec['caBundle']) !== '') {
    const message = 'may not be true if caBundle is present';
    errors.push(fieldError.invalid(at.child('insecureSkipTLSVerify'), true, message));
  }
  return errors;
}

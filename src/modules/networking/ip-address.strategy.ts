import { path, type FieldError } from '../../machinery/field-error.js';
import { checked, required, requiredName } from '../../machinery/field-rules.js';
import { asFields, asText, isSet } from '../../machinery/fields.js';
import { immutable } from '../../machinery/immutable.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { validateDnsSubdomain, validatePathSegment } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateCanonicalIp } from './canonical.validation.js';

const at = path('spec').child('parentRef');

/** Its name is the address: there is one at most for each. */
export const ipAddressStrategy: Strategy = {
  validateName: validateCanonicalIp,
  validateCreate: validateParent,
  validateUpdate(address, old) {
    const parent = asFields(address['spec'])['parentRef'];
    const { group, resource, namespace, name } = asFields(parent);
    const shown = {
      Group: asText(group),
      Resource: asText(resource),
      Namespace: asText(namespace),
      Name: asText(name),
    };
    return [
      ...immutable(parent, asFields(old['spec'])['parentRef'], at, isSet(parent) ? shown : null),
      ...validateParent(address),
    ];
  },
};

function validateParent(address: KubeObject): FieldError[] {
  const parent = asFields(address['spec'])['parentRef'];
  if (!isSet(parent)) return required(parent, at);
  const fields = asFields(parent);
  const group = asText(fields['group']);
  const namespace = asText(fields['namespace']);
  return [
    ...(group === '' ? [] : checked(group, at.child('group'), validateDnsSubdomain)),
    ...requiredName(asText(fields['resource']), at.child('resource'), validatePathSegment),
    ...requiredName(asText(fields['name']), at.child('name'), validatePathSegment),
    ...(namespace === '' ? [] : checked(namespace, at.child('namespace'), validatePathSegment)),
  ];
}

import type { NamingProfile } from '../../config/naming-profile.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, each, oneOf, required, requiredName } from '../../machinery/field-rules.js';
import { asFields, asItems, asText, fillInZero, makeFields, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain, nameIsPathSegment } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';

/** Who has a role. The role of a binding stays what it was, so that a subject's consent to it is not changed under it. */
export function roleBindingStrategy(naming: NamingProfile, { namespaced }: { readonly namespaced: boolean }): Strategy {
  const group = naming.group('rbac.authorization');
  const roleKinds = namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'];

  const validate = (binding: KubeObject): FieldError[] => [
    ...validateRoleRef(asFields(binding['roleRef']), path('roleRef')),
    ...each(binding['subjects'], path('subjects'), validateSubject),
  ];

  const validateRoleRef = (roleRef: Fields, at: FieldPath): FieldError[] => [
    ...oneOf(asText(roleRef['apiGroup']), at.child('apiGroup'), [group]),
    ...oneOf(asText(roleRef['kind']), at.child('kind'), roleKinds),
    ...requiredName(asText(roleRef['name']), at.child('name'), nameIsPathSegment),
  ];

  const validateSubject = (subject: Fields, at: FieldPath): FieldError[] => {
    const name = asText(subject['name']);
    const errors = required(name, at.child('name'));
    const apiGroup = asText(subject['apiGroup']);
    switch (subject['kind']) {
      case 'ServiceAccount':
        if (name !== '') errors.push(...checked(name, at.child('name'), nameIsDnsSubdomain));
        errors.push(...oneOf(apiGroup, at.child('apiGroup'), ['']));
        // In a RoleBinding, the account is in the namespace of the binding unless it says otherwise.
        if (!namespaced) errors.push(...required(subject['namespace'], at.child('namespace')));
        return errors;
      case 'User':
      case 'Group':
        return [...errors, ...oneOf(apiGroup, at.child('apiGroup'), [group])];
      default:
        return [...errors, ...oneOf(asText(subject['kind']), at.child('kind'), ['ServiceAccount', 'User', 'Group'])];
    }
  };

  return {
    validateName: nameIsPathSegment,
    default(binding) {
      fillInZero(makeFields(binding, 'roleRef'), 'apiGroup', group);
      for (const subject of asItems(binding['subjects'])) {
        if (subject['kind'] === 'User' || subject['kind'] === 'Group') fillInZero(subject, 'apiGroup', group);
      }
    },
    validateCreate: validate,
    validateUpdate(binding, old) {
      const errors = validate(binding);
      const { apiGroup, kind, name } = asFields(binding['roleRef']);
      if (!deepEqual(asFields(binding['roleRef']), asFields(old['roleRef']))) {
        const value = { APIGroup: asText(apiGroup), Kind: asText(kind), Name: asText(name) };
        errors.push(fieldError.invalid('roleRef', value, 'cannot change roleRef'));
      }
      return errors;
    },
  };
}

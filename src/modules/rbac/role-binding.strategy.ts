import type { RoleBinding, RoleRef, Subject } from '../../catalog/types/rbac.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, each, oneOf, required, requiredName } from '../../machinery/field-rules.js';
import { nameIsDnsSubdomain, nameIsPathSegment } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';

/** The strategy of RoleBindings and ClusterRoleBindings, which have the same fields; roleRef is immutable. */
export function roleBindingStrategy(
  naming: NamingProfile,
  { namespaced }: { readonly namespaced: boolean },
): Strategy<RoleBinding> {
  const group = naming.group('rbac.authorization');
  const roleKinds = namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'];

  const validate = (binding: RoleBinding): FieldError[] => [
    ...validateRoleRef(binding.roleRef ?? {}, path('roleRef')),
    ...each(binding.subjects, path('subjects'), validateSubject),
  ];

  const validateRoleRef = ({ apiGroup = '', kind = '', name = '' }: RoleRef, at: FieldPath): FieldError[] => [
    ...oneOf(apiGroup, at.child('apiGroup'), [group]),
    ...oneOf(kind, at.child('kind'), roleKinds),
    ...requiredName(name, at.child('name'), nameIsPathSegment),
  ];

  const validateSubject = (subject: Subject, at: FieldPath): FieldError[] => {
    const { kind = '', apiGroup = '', name = '' } = subject;
    const errors = required(name, at.child('name'));
    switch (kind) {
      case 'ServiceAccount':
        if (name !== '') errors.push(...checked(name, at.child('name'), nameIsDnsSubdomain));
        errors.push(...oneOf(apiGroup, at.child('apiGroup'), ['']));
        // An account in a RoleBinding without a namespace is in the namespace of the binding.
        if (!namespaced) errors.push(...required(subject.namespace, at.child('namespace')));
        return errors;
      case 'User':
      case 'Group':
        return [...errors, ...oneOf(apiGroup, at.child('apiGroup'), [group])];
      default:
        return [...errors, ...oneOf(kind, at.child('kind'), ['ServiceAccount', 'User', 'Group'])];
    }
  };

  return {
    validateName: nameIsPathSegment,
    default(binding) {
      const roleRef = (binding.roleRef ??= {});
      roleRef.apiGroup ||= group;
      for (const subject of binding.subjects ?? []) {
        if (subject.kind === 'User' || subject.kind === 'Group') subject.apiGroup ||= group;
      }
    },
    validateCreate: validate,
    validateUpdate(binding, old) {
      const errors = validate(binding);
      const { roleRef = {} } = binding;
      if (!deepEqual(roleRef, old.roleRef ?? {})) {
        const { apiGroup = '', kind = '', name = '' } = roleRef;
        const value = { APIGroup: apiGroup, Kind: kind, Name: name };
        errors.push(fieldError.invalid('roleRef', value, 'cannot change roleRef'));
      }
      return errors;
    },
  };
}

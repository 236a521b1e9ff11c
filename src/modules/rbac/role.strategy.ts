import type { AggregationRule, ClusterRole, PolicyRule } from '../../catalog/types/rbac.v1.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { each, required } from '../../machinery/field-rules.js';
import type { Mutable } from '../../machinery/mutable.js';
import { nameIsPathSegment } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateLabelSelectorObject } from '../core/selector.validation.js';

/**
 * The strategy of Roles and ClusterRoles, which have the fields of a Role and aggregationRule. Admission refuses to grant
 * more than the user has.
 */
export function roleStrategy({ namespaced }: { readonly namespaced: boolean }): Strategy<ClusterRole> {
  const validate = (role: ClusterRole): FieldError[] => [
    ...each(role.rules, path('rules'), (rule, at) => validateRule(rule, at, namespaced)),
    ...(namespaced ? [] : validateAggregation(role.aggregationRule, path('aggregationRule'))),
  ];
  return {
    validateName: nameIsPathSegment,
    default(role) {
      role.rules ??= null;
    },
    prepareForCreate: emptyRulesToNull,
    prepareForUpdate: emptyRulesToNull,
    validateCreate: validate,
    validateUpdate: validate,
  };
}

/** Stores an empty list of rules as null, as kube-apiserver does. */
function emptyRulesToNull(role: Mutable<ClusterRole>): void {
  if ((role.rules ?? []).length === 0) role.rules = null;
}

function validateRule(rule: PolicyRule, at: FieldPath, namespaced: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const isEmpty = (field: keyof PolicyRule) => (rule[field] ?? []).length === 0;
  if (isEmpty('verbs')) {
    errors.push(fieldError.required(at.child('verbs'), 'verbs must contain at least one value'));
  }
  if (!isEmpty('nonResourceURLs')) {
    const urlsAt = at.child('nonResourceURLs');
    if (namespaced) {
      const message = 'namespaced rules cannot apply to non-resource URLs';
      errors.push(fieldError.invalid(urlsAt, rule.nonResourceURLs, message));
    }
    if (!isEmpty('apiGroups') || !isEmpty('resources') || !isEmpty('resourceNames')) {
      const message = 'rules cannot apply to both regular resources and non-resource URLs';
      errors.push(fieldError.invalid(urlsAt, rule.nonResourceURLs, message));
    }
    return errors;
  }
  if (isEmpty('apiGroups')) {
    errors.push(fieldError.required(at.child('apiGroups'), 'resource rules must supply at least one api group'));
  }
  if (isEmpty('resources')) {
    errors.push(fieldError.required(at.child('resources'), 'resource rules must supply at least one resource'));
  }
  return errors;
}

function validateAggregation(aggregation: AggregationRule | undefined, at: FieldPath): FieldError[] {
  if (!aggregation) return [];
  const selectorsAt = at.child('clusterRoleSelectors');
  const { clusterRoleSelectors = [] } = aggregation;
  if (clusterRoleSelectors.length === 0) {
    return required(undefined, selectorsAt, 'at least one clusterRoleSelector required if aggregationRule is non-nil');
  }
  return each(clusterRoleSelectors, selectorsAt, (selector, selectorAt) => {
    const errors = validateLabelSelectorObject(selector, selectorAt);
    // kube-apiserver adds an error for the whole selector.
    return errors.length === 0 ? [] : [...errors, fieldError.invalid(selectorAt, undefined, 'invalid label selector.')];
  });
}

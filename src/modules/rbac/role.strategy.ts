import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { each, required } from '../../machinery/field-rules.js';
import { asFields, asItems, asTexts, isSet, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsPathSegment } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateLabelSelectorObject } from '../core/selector.validation.js';

/**
 * Roles and ClusterRoles. That nobody grants more than they have is not a rule of the object but of who writes it:
 * it needs the rules that the user has, and is asked where users are known.
 */
export function roleStrategy({ namespaced }: { readonly namespaced: boolean }): Strategy {
  const validate = (role: KubeObject): FieldError[] => [
    ...each(role['rules'], path('rules'), (rule, at) => validateRule(rule, at, namespaced)),
    ...(namespaced ? [] : validateAggregation(role['aggregationRule'], path('aggregationRule'))),
  ];
  return {
    validateName: nameIsPathSegment,
    default(role) {
      role['rules'] ??= null;
    },
    prepareForCreate: dropEmptyRules,
    prepareForUpdate: dropEmptyRules,
    validateCreate: validate,
    validateUpdate: validate,
  };
}

/** An empty list is kept as none, though whoever sent it said something about the rules. */
function dropEmptyRules(role: KubeObject): void {
  if (asItems(role['rules']).length === 0) role['rules'] = null;
}

function validateRule(rule: Fields, at: FieldPath, namespaced: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const isEmpty = (field: string) => asTexts(rule[field]).length === 0;
  if (isEmpty('verbs')) {
    errors.push(fieldError.required(at.child('verbs'), 'verbs must contain at least one value'));
  }
  if (!isEmpty('nonResourceURLs')) {
    const urls = at.child('nonResourceURLs');
    if (namespaced) {
      const message = 'namespaced rules cannot apply to non-resource URLs';
      errors.push(fieldError.invalid(urls, rule['nonResourceURLs'], message));
    }
    if (!isEmpty('apiGroups') || !isEmpty('resources') || !isEmpty('resourceNames')) {
      const message = 'rules cannot apply to both regular resources and non-resource URLs';
      errors.push(fieldError.invalid(urls, rule['nonResourceURLs'], message));
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

function validateAggregation(aggregation: unknown, at: FieldPath): FieldError[] {
  if (!isSet(aggregation)) return [];
  const selectors = at.child('clusterRoleSelectors');
  const { clusterRoleSelectors } = asFields(aggregation);
  if (asItems(clusterRoleSelectors).length === 0) {
    return required(undefined, selectors, 'at least one clusterRoleSelector required if aggregationRule is non-nil');
  }
  return each(clusterRoleSelectors, selectors, (selector, where) => {
    const errors = validateLabelSelectorObject(selector, where);
    // Said once more of the whole selector, since it cannot be turned into one that selects.
    return errors.length === 0 ? [] : [...errors, fieldError.invalid(where, undefined, 'invalid label selector.')];
  });
}

import type { NamedRuleWithOperations, RuleWithOperations } from '../../catalog/types/admissionregistration.v1.js';
import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { duplicates, oneOf, required } from '../../machinery/field-rules.js';
import { validatePathSegment } from '../../machinery/names.js';

const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const scopes = ['*', 'Cluster', 'Namespaced'];

/** Validates the operations and resources of a rule of a webhook or a policy. */
export function validateRule(rule: RuleWithOperations, at: FieldPath): FieldError[] {
  return [
    ...validateWildcard(rule, 'operations', 'operations', at),
    ...(rule.operations ?? []).flatMap((operation, index) =>
      oneOf(operation, at.child('operations').index(index), operations),
    ),
    ...validateWildcard(rule, 'apiGroups', 'API groups', at),
    ...validateWildcard(rule, 'apiVersions', 'API versions', at),
    ...(rule.apiVersions ?? []).flatMap((version, index) => required(version, at.child('apiVersions').index(index))),
    ...validateResources(rule.resources ?? [], at.child('resources')),
    ...oneOf(rule.scope, at.child('scope'), scopes),
  ];
}

/** Validates a rule of a policy, which can have names of objects too. */
export function validateNamedRule(rule: NamedRuleWithOperations, at: FieldPath): FieldError[] {
  const { resourceNames: names = [] } = rule;
  const nameAt = (index: number) => at.child('resourceNames').index(index);
  return [
    ...names.flatMap((name, index) =>
      validatePathSegment(name).map((problem) => fieldError.invalid(nameAt(index), name, problem)),
    ),
    ...duplicates(names, (name) => name, nameAt),
    ...validateRule(rule, at),
  ];
}

/** Requires a list that is not empty, and that has no other item beside `*`. */
function validateWildcard(
  rule: RuleWithOperations,
  field: 'operations' | 'apiGroups' | 'apiVersions',
  noun: string,
  at: FieldPath,
): FieldError[] {
  const { [field]: values = [] } = rule;
  const valuesAt = at.child(field);
  if (values.length === 0) return required(undefined, valuesAt);
  if (values.length === 1 || !values.includes('*')) return [];
  return [fieldError.invalid(valuesAt, values, `if '*' is present, must not specify other ${noun}`)];
}

/** Refuses resources that a wildcard in the list covers too. */
function validateResources(resources: readonly string[], at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const invalid = (invalidAt: FieldPath, value: unknown, message: string) =>
    errors.push(fieldError.invalid(invalidAt, value, message));
  if (resources.length === 0) return required(undefined, at);
  const wholeResources = new Set<string>();
  const everywhere = new Set<string>();
  for (const [index, resource] of resources.entries()) {
    const resourceAt = at.index(index);
    if (resource === '') errors.push(...required(resource, resourceAt));
    const slash = resource.indexOf('/');
    if (slash < 0) continue;
    const [name, subresource] = [resource.slice(0, slash), resource.slice(slash + 1)];
    if (wholeResources.has(name))
      invalid(resourceAt, resource, `if '${name}/*' is present, must not specify ${resource}`);
    if (everywhere.has(subresource)) {
      invalid(resourceAt, resource, `if '*/${subresource}' is present, must not specify ${resource}`);
    }
    if (subresource === '*') wholeResources.add(name);
    if (name === '*') everywhere.add(subresource);
  }
  if (resources.length > 1 && resources.includes('*/*')) {
    invalid(at, resources, "if '*/*' is present, must not specify other resources");
  }
  if (resources.includes('*') && resources.some((it) => it !== '*' && it !== '' && !it.includes('/'))) {
    invalid(at, resources, "if '*' is present, must not specify other resources without subresources");
  }
  return errors;
}

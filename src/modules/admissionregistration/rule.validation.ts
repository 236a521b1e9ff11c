import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { duplicates, oneOf, required } from '../../machinery/field-rules.js';
import { asText, asTexts, isSet, type Fields } from '../../machinery/fields.js';
import { validatePathSegment } from '../../machinery/names.js';

const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const scopes = ['*', 'Cluster', 'Namespaced'];

/** Which operations on which resources a webhook or a policy is asked about. */
export function validateRule(rule: Fields, at: FieldPath): FieldError[] {
  const given = asTexts(rule['operations']);
  return [
    ...listed(rule, 'operations', 'operations', at),
    ...given.flatMap((operation, index) => oneOf(operation, at.child('operations').index(index), operations)),
    ...listed(rule, 'apiGroups', 'API groups', at),
    ...listed(rule, 'apiVersions', 'API versions', at),
    ...asTexts(rule['apiVersions']).flatMap((version, index) =>
      required(version, at.child('apiVersions').index(index)),
    ),
    ...validateResources(asTexts(rule['resources']), at.child('resources')),
    ...(isSet(rule['scope']) ? oneOf(asText(rule['scope']), at.child('scope'), scopes) : []),
  ];
}

/** Of a policy: names of objects as well. */
export function validateNamedRule(rule: Fields, at: FieldPath): FieldError[] {
  const names = asTexts(rule['resourceNames']);
  const where = (index: number) => at.child('resourceNames').index(index);
  return [
    ...names.flatMap((name, index) =>
      validatePathSegment(name).map((problem) => fieldError.invalid(where(index), name, problem)),
    ),
    ...duplicates(names, (name) => name, where),
    ...validateRule(rule, at),
  ];
}

function listed(rule: Fields, field: string, what: string, at: FieldPath): FieldError[] {
  const given = asTexts(rule[field]);
  const where = at.child(field);
  if (given.length === 0) return required(undefined, where);
  if (given.length === 1 || !given.includes('*')) return [];
  return [fieldError.invalid(where, given, `if '*' is present, must not specify other ${what}`)];
}

/** A star covers what stands beside it, so that whoever says both has meant something else. */
function validateResources(resources: readonly string[], at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const invalid = (where: FieldPath, value: unknown, message: string) =>
    errors.push(fieldError.invalid(where, value, message));
  if (resources.length === 0) return required(undefined, at);
  const wholeResources = new Set<string>();
  const everywhere = new Set<string>();
  for (const [index, resource] of resources.entries()) {
    const where = at.index(index);
    if (resource === '') errors.push(...required(resource, where));
    const slash = resource.indexOf('/');
    if (slash < 0) continue;
    const [name, subresource] = [resource.slice(0, slash), resource.slice(slash + 1)];
    if (wholeResources.has(name)) invalid(where, resource, `if '${name}/*' is present, must not specify ${resource}`);
    if (everywhere.has(subresource)) {
      invalid(where, resource, `if '*/${subresource}' is present, must not specify ${resource}`);
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

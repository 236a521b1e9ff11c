import type {
  FlowDistinguisherMethod,
  FlowSchema,
  FlowSchemaSpec,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  PriorityLevelConfiguration,
  ResourcePolicyRule,
  Subject,
} from '../../catalog/types/flowcontrol.v1.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, duplicates, each, oneOf, required, requiredName } from '../../machinery/field-rules.js';
import { goStruct, type GoStruct } from '../../machinery/go-value.js';
import { nameIsDnsLabel, nameIsDnsSubdomain } from '../../machinery/names.js';
import { mandatoryFlowSchemas } from './mandatory-objects.js';

const precedenceMax = 10_000;
const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];

export function validateFlowSchema({ metadata, spec = {} }: FlowSchema): FieldError[] {
  const { name = '' } = metadata;
  const errors = validateSpec(spec, name, path('spec'));
  const mandatory = Object.hasOwn(mandatoryFlowSchemas, name) ? mandatoryFlowSchemas[name] : undefined;
  if (mandatory && !deepEqual(spec, mandatory)) {
    errors.push(fieldError.invalid('spec', goStruct(spec, shownSpec), `spec of '${name}' must equal the fixed value`));
  }
  return errors;
}

const shownSpec: GoStruct = [
  ['priorityLevelConfiguration', { Name: '' }, (level) => goStruct(level, [['name', '']])],
  ['matchingPrecedence', 0],
  ['distinguisherMethod', null, (method) => goStruct(method, [['type', '']])],
  ['rules', null],
];

export function validateConditions({ status }: FlowSchema | PriorityLevelConfiguration): FieldError[] {
  const at = path('status').child('conditions');
  const conditions = status?.conditions ?? [];
  return [
    ...duplicates(
      conditions,
      ({ type = '' }) => type,
      (index) => at.index(index).child('type'),
    ),
    ...each(conditions, at, ({ type }, where) => required(type, where.child('type'))),
  ];
}

function validateSpec(spec: FlowSchemaSpec, name: string, at: FieldPath): FieldError[] {
  const level = spec.priorityLevelConfiguration?.name ?? '';
  const levelAt = at.child('priorityLevelConfiguration', 'name');
  return [
    ...validatePrecedence(spec.matchingPrecedence ?? 0, name, at.child('matchingPrecedence')),
    ...validateDistinguisher(spec.distinguisherMethod, at.child('distinguisherMethod', 'type')),
    ...(level === ''
      ? required(level, levelAt, 'must reference a priority level')
      : checked(level, levelAt, nameIsDnsSubdomain)),
    ...each(spec.rules, at.child('rules'), validateRules),
  ];
}

function validatePrecedence(precedence: number, name: string, at: FieldPath): FieldError[] {
  const invalid = (message: string) => [fieldError.invalid(at, precedence, message)];
  if (precedence <= 0) return invalid('must be a positive value');
  if (precedence > precedenceMax) return invalid(`must not be greater than ${precedenceMax}`);
  if (precedence === 1 && name !== 'exempt') {
    return invalid("only the schema named 'exempt' may have matchingPrecedence 1");
  }
  return [];
}

function validateDistinguisher(method: FlowDistinguisherMethod | undefined, at: FieldPath): FieldError[] {
  const type = method?.type ?? '';
  const supported = ['ByNamespace', 'ByUser'];
  if (!method || supported.includes(type)) return [];
  return [fieldError.notSupported(at, { Type: type }, supported)];
}

function validateRules(rules: PolicyRulesWithSubjects, at: FieldPath): FieldError[] {
  const { subjects, resourceRules = [], nonResourceRules = [] } = rules;
  const errors = subjects?.length
    ? each(subjects, at.child('subjects'), validateSubject)
    : required(undefined, at.child('subjects'), 'subjects must contain at least one value');
  if (resourceRules.length === 0 && nonResourceRules.length === 0) {
    const message = 'at least one of resourceRules and nonResourceRules has to be non-empty';
    errors.push(...required(undefined, at, message));
  }
  return [
    ...errors,
    ...each(resourceRules, at.child('resourceRules'), validateResourceRule),
    ...each(nonResourceRules, at.child('nonResourceRules'), validateNonResourceRule),
  ];
}

/** The field of each kind of subject; a subject sets this one field alone. */
const subjectFields = { ServiceAccount: 'serviceAccount', User: 'user', Group: 'group' } as const;
type SubjectKind = keyof typeof subjectFields;

function validateSubject(subject: Subject, at: FieldPath): FieldError[] {
  const { kind = '' } = subject;
  const kinds = ['Group', 'ServiceAccount', 'User'];
  if (!kinds.includes(kind)) return oneOf(kind, at.child('kind'), kinds);
  const errors = validateSubjectField(subject, kind as SubjectKind, at);
  for (const [other, field] of Object.entries(subjectFields)) {
    if (other === kind || !subject[field]) continue;
    const message = `${field} is forbidden when subject kind is not '${other}'`;
    errors.push(fieldError.forbidden(at.child(field), message));
  }
  return errors;
}

function validateSubjectField(subject: Subject, kind: SubjectKind, at: FieldPath): FieldError[] {
  const field = subjectFields[kind];
  const where = at.child(field);
  if (!subject[field]) return required(undefined, where, `${field} is required when subject kind is '${kind}'`);
  if (kind !== 'ServiceAccount') return required(subject[field].name, where.child('name'));
  const { name = '', namespace = '' } = subject.serviceAccount ?? {};
  return [
    ...(name === '*' ? [] : requiredName(name, where.child('name'), nameIsDnsSubdomain)),
    ...(namespace === ''
      ? required(namespace, where.child('namespace'), 'must specify namespace for service account')
      : checked(namespace, where.child('namespace'), nameIsDnsLabel)),
  ];
}

function validateResourceRule(rule: ResourcePolicyRule, at: FieldPath): FieldError[] {
  const namespaces = rule.namespaces ?? [];
  const where = at.child('namespaces');
  return [
    ...validateVerbs(rule.verbs ?? [], at.child('verbs')),
    ...validateList(rule.apiGroups ?? [], at.child('apiGroups'), 'resource rules', 'api group', 'api groups'),
    ...validateList(rule.resources ?? [], at.child('resources'), 'resource rules', 'resource', 'resources'),
    ...(namespaces.length === 0 && !rule.clusterScope
      ? required(undefined, where, 'resource rules that are not cluster scoped must supply at least one namespace')
      : []),
    ...(namespaces.includes('*')
      ? validateWildcard(namespaces, where, 'namespaces')
      : namespaces.flatMap((namespace, index) => checked(namespace, where.index(index), nameIsDnsLabel))),
  ];
}

function validateNonResourceRule(rule: NonResourcePolicyRule, at: FieldPath): FieldError[] {
  const urls = rule.nonResourceURLs ?? [];
  const where = at.child('nonResourceURLs');
  return [
    ...validateVerbs(rule.verbs ?? [], at.child('verbs')),
    ...(urls.length === 0 ? required(undefined, where, 'nonResourceURLs must contain at least one value') : []),
    ...(urls.includes('*')
      ? validateWildcard(urls, where, 'non-resource URLs')
      : urls.flatMap((url, index) => checked(url, where.index(index), urlProblem))),
  ];
}

function validateVerbs(list: readonly string[], at: FieldPath): FieldError[] {
  if (list.length === 0) return required(undefined, at, 'verbs must contain at least one value');
  if (list.includes('*')) return validateWildcard(list, at, 'verbs');
  return list.every((verb) => verbs.includes(verb)) ? [] : [fieldError.notSupported(at, list, verbs)];
}

function validateList(list: readonly string[], at: FieldPath, rules: string, one: string, many: string): FieldError[] {
  if (list.length === 0) return required(undefined, at, `${rules} must supply at least one ${one}`);
  return list.includes('*') ? validateWildcard(list, at, many) : [];
}

/** Refuses other items beside a `*`. */
function validateWildcard(list: readonly string[], at: FieldPath, what: string): FieldError[] {
  if (list.length <= 1) return [];
  return [fieldError.invalid(at, list, `if '*' is present, must not specify other ${what}`)];
}

function urlProblem(url: string): string[] {
  if (url === '') return ['must not be empty'];
  if (url === '/') return [];
  if (!url.startsWith('/')) return ['must start with slash'];
  if (url.includes(' ')) return ['must not contain white-space'];
  if (url.includes('//')) return ['must not contain double slash'];
  const star = url.indexOf('*');
  const isSuffix = star === url.length - 1 && url.endsWith('/*');
  return star < 0 || isSuffix ? [] : ['wildcard can only do suffix matching'];
}

import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, duplicates, each, oneOf, required, requiredName } from '../../machinery/field-rules.js';
import { asFields, asItems, asNumber, asText, asTexts, isSet, type Fields } from '../../machinery/fields.js';
import { goStruct, type GoStruct } from '../../machinery/go-value.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsLabel, nameIsDnsSubdomain } from '../../machinery/names.js';
import { mandatoryFlowSchemas } from './mandatory-objects.js';

const precedenceMax = 10_000;
const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];

export function validateFlowSchema(schema: KubeObject): FieldError[] {
  const name = schema.metadata.name ?? '';
  const spec = asFields(schema['spec']);
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

/** Those of flow schemas and of priority levels follow the same rules. */
export function validateConditions(object: KubeObject): FieldError[] {
  const at = path('status').child('conditions');
  const conditions = asFields(object['status'])['conditions'];
  return [
    ...duplicates(
      asItems(conditions),
      ({ type }) => asText(type),
      (index) => at.index(index).child('type'),
    ),
    ...each(conditions, at, ({ type }, where) => required(type, where.child('type'))),
  ];
}

function validateSpec(spec: Fields, name: string, at: FieldPath): FieldError[] {
  const precedence = asNumber(spec['matchingPrecedence']);
  const level = asText(asFields(spec['priorityLevelConfiguration'])['name']);
  const levelAt = at.child('priorityLevelConfiguration', 'name');
  return [
    ...validatePrecedence(precedence, name, at.child('matchingPrecedence')),
    ...validateDistinguisher(spec['distinguisherMethod'], at.child('distinguisherMethod', 'type')),
    ...(level === ''
      ? required(level, levelAt, 'must reference a priority level')
      : checked(level, levelAt, nameIsDnsSubdomain)),
    ...each(spec['rules'], at.child('rules'), validateRules),
  ];
}

function validatePrecedence(precedence: number, name: string, at: FieldPath): FieldError[] {
  const invalid = (message: string) => [fieldError.invalid(String(at), precedence, message)];
  if (precedence <= 0) return invalid('must be a positive value');
  if (precedence > precedenceMax) return invalid(`must not be greater than ${precedenceMax}`);
  if (precedence === 1 && name !== 'exempt') {
    return invalid("only the schema named 'exempt' may have matchingPrecedence 1");
  }
  return [];
}

function validateDistinguisher(method: unknown, at: FieldPath): FieldError[] {
  const type = asText(asFields(method)['type']);
  const supported = ['ByNamespace', 'ByUser'];
  if (!isSet(method) || supported.includes(type)) return [];
  return [fieldError.notSupported(String(at), { Type: type }, supported)];
}

function validateRules(rules: Fields, at: FieldPath): FieldError[] {
  const { subjects, resourceRules, nonResourceRules } = rules;
  const errors =
    asItems(subjects).length === 0
      ? required(undefined, at.child('subjects'), 'subjects must contain at least one value')
      : each(subjects, at.child('subjects'), validateSubject);
  if (asItems(resourceRules).length === 0 && asItems(nonResourceRules).length === 0) {
    const message = 'at least one of resourceRules and nonResourceRules has to be non-empty';
    errors.push(...required(undefined, at, message));
  }
  return [
    ...errors,
    ...each(resourceRules, at.child('resourceRules'), validateResourceRule),
    ...each(nonResourceRules, at.child('nonResourceRules'), validateNonResourceRule),
  ];
}

/** A subject says who it is in the one field that belongs to its kind. */
const subjectFields = { ServiceAccount: 'serviceAccount', User: 'user', Group: 'group' } as const;
type SubjectKind = keyof typeof subjectFields;

function validateSubject(subject: Fields, at: FieldPath): FieldError[] {
  const kind = asText(subject['kind']);
  const kinds = ['Group', 'ServiceAccount', 'User'];
  if (!kinds.includes(kind)) return oneOf(kind, at.child('kind'), kinds);
  const errors = validateSubjectField(subject, kind as SubjectKind, at);
  for (const [other, field] of Object.entries(subjectFields)) {
    if (other === kind || !isSet(subject[field])) continue;
    const message = `${field} is forbidden when subject kind is not '${other}'`;
    errors.push(fieldError.forbidden(String(at.child(field)), message));
  }
  return errors;
}

function validateSubjectField(subject: Fields, kind: SubjectKind, at: FieldPath): FieldError[] {
  const field = subjectFields[kind];
  const where = at.child(field);
  if (!isSet(subject[field])) return required(undefined, where, `${field} is required when subject kind is '${kind}'`);
  const { name, namespace } = asFields(subject[field]);
  if (kind !== 'ServiceAccount') return required(name, where.child('name'));
  const home = asText(namespace);
  return [
    ...(name === '*' ? [] : requiredName(asText(name), where.child('name'), nameIsDnsSubdomain)),
    ...(home === ''
      ? required(home, where.child('namespace'), 'must specify namespace for service account')
      : checked(home, where.child('namespace'), nameIsDnsLabel)),
  ];
}

function validateResourceRule(rule: Fields, at: FieldPath): FieldError[] {
  const namespaces = asTexts(rule['namespaces']);
  const where = at.child('namespaces');
  return [
    ...validateVerbs(rule, at.child('verbs')),
    ...validateList(rule['apiGroups'], at.child('apiGroups'), 'resource rules', 'api group', 'api groups'),
    ...validateList(rule['resources'], at.child('resources'), 'resource rules', 'resource', 'resources'),
    ...(namespaces.length === 0 && rule['clusterScope'] !== true
      ? required(undefined, where, 'resource rules that are not cluster scoped must supply at least one namespace')
      : []),
    ...(namespaces.includes('*')
      ? aloneStar(rule['namespaces'], where, 'namespaces')
      : namespaces.flatMap((namespace, index) => checked(namespace, where.index(index), nameIsDnsLabel))),
  ];
}

function validateNonResourceRule(rule: Fields, at: FieldPath): FieldError[] {
  const urls = asTexts(rule['nonResourceURLs']);
  const where = at.child('nonResourceURLs');
  return [
    ...validateVerbs(rule, at.child('verbs')),
    ...(urls.length === 0 ? required(undefined, where, 'nonResourceURLs must contain at least one value') : []),
    ...(urls.includes('*')
      ? aloneStar(rule['nonResourceURLs'], where, 'non-resource URLs')
      : urls.flatMap((url, index) => checked(url, where.index(index), urlProblem))),
  ];
}

function validateVerbs(rule: Fields, at: FieldPath): FieldError[] {
  const given = asTexts(rule['verbs']);
  if (given.length === 0) return required(undefined, at, 'verbs must contain at least one value');
  if (given.includes('*')) return aloneStar(given, at, 'verbs');
  return given.every((verb) => verbs.includes(verb)) ? [] : [fieldError.notSupported(String(at), given, verbs)];
}

function validateList(list: unknown, at: FieldPath, rules: string, one: string, many: string): FieldError[] {
  const given = asTexts(list);
  if (given.length === 0) return required(undefined, at, `${rules} must supply at least one ${one}`);
  return given.includes('*') ? aloneStar(given, at, many) : [];
}

function aloneStar(list: unknown, at: FieldPath, what: string): FieldError[] {
  if (asTexts(list).length <= 1) return [];
  return [fieldError.invalid(String(at), list, `if '*' is present, must not specify other ${what}`)];
}

function urlProblem(url: string): string[] {
  if (url === '') return ['must not be empty'];
  if (url === '/') return [];
  if (!url.startsWith('/')) return ['must start with slash'];
  if (url.includes(' ')) return ['must not contain white-space'];
  if (url.includes('//')) return ['must not contain double slash'];
  const stars = url.split('*').length - 1;
  return stars === 0 || (stars === 1 && url.endsWith('/*')) ? [] : ['wildcard can only do suffix matching'];
}

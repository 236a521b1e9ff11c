import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { duplicates, each, oneOf, required } from '../../machinery/field-rules.js';
import { asFields, asItems, asText, isSet, type Fields } from '../../machinery/fields.js';
import { parseApiVersion } from '../../machinery/gvk.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { validateDns1035Label, validateDnsSubdomain, validateQualifiedName } from '../../machinery/names.js';
import { failurePolicies, validateMatchConditions, validateMatchResources } from './match.validation.js';

const auditAnnotationsMax = 20;
const auditExpressionBytesMax = 5 * 1024;
const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];

export function validateValidatingPolicy(policy: KubeObject, old: KubeObject | undefined): FieldError[] {
  const at = path('spec');
  const spec = asFields(policy['spec']);
  const { validations, auditAnnotations } = spec;
  const errors = validateCommon(policy, old, at);
  if (asItems(validations).length === 0 && asItems(auditAnnotations).length === 0) {
    const message = 'validations or auditAnnotations must contain at least one item';
    for (const field of ['validations', 'auditAnnotations']) {
      errors.push(...required(undefined, at.child(field), message));
    }
    return errors;
  }
  return [
    ...errors,
    ...each(validations, at.child('validations'), validateValidation),
    ...validateAuditAnnotations(policy.metadata.name ?? '', auditAnnotations, at.child('auditAnnotations')),
  ];
}

export function validateMutatingPolicy(policy: KubeObject, old: KubeObject | undefined): FieldError[] {
  const at = path('spec');
  const { mutations, reinvocationPolicy } = asFields(policy['spec']);
  const reinvocation = asText(reinvocationPolicy);
  return [
    ...validateCommon(policy, old, at),
    ...(asItems(mutations).length === 0
      ? required(undefined, at.child('mutations'), 'mutations must contain at least one item')
      : each(mutations, at.child('mutations'), validateMutation)),
    ...(reinvocation === ''
      ? required(reinvocation, at.child('reinvocationPolicy'))
      : oneOf(reinvocation, at.child('reinvocationPolicy'), ['IfNeeded', 'Never'])),
  ];
}

function validateCommon(policy: KubeObject, old: KubeObject | undefined, at: FieldPath): FieldError[] {
  const spec = asFields(policy['spec']);
  const before = asFields(old?.['spec']);
  const { matchConstraints: match } = spec;
  const isSame = (field: string) => deepEqual(spec[field] ?? null, before[field] ?? null);
  // Conditions that were once accepted stay acceptable.
  const keepsConditions = old !== undefined && isSame('matchConditions') && isSame('paramKind');
  return [
    ...oneOf(spec['failurePolicy'], at.child('failurePolicy'), failurePolicies),
    ...(isSet(spec['paramKind']) ? validateParamKind(asFields(spec['paramKind']), at.child('paramKind')) : []),
    ...required(match, at.child('matchConstraints')),
    ...validateMatchResources(match, at.child('matchConstraints')),
    ...(isSet(match) && asItems(asFields(match)['resourceRules']).length === 0
      ? required(undefined, at.child('matchConstraints', 'resourceRules'))
      : []),
    ...(keepsConditions ? [] : validateMatchConditions(spec['matchConditions'], at.child('matchConditions'))),
    ...each(spec['variables'], at.child('variables'), validateVariable),
  ];
}

function validateParamKind({ apiVersion, kind }: Fields, at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const version = asText(apiVersion);
  const parsed = parseApiVersion(version);
  const where = String(at.child('apiVersion'));
  if (version === '') errors.push(fieldError.required(where));
  else if (!parsed) errors.push(fieldError.invalid(where, version, `unexpected GroupVersion string: ${version}`));
  else {
    const groupProblems = parsed.group === '' ? [] : validateDnsSubdomain(parsed.group);
    const versionProblems = validateDns1035Label(parsed.version);
    if (groupProblems.length > 0) errors.push(fieldError.invalid(where, parsed.group, groupProblems.join(',')));
    if (versionProblems.length > 0) errors.push(fieldError.invalid(where, parsed.version, versionProblems.join(',')));
  }
  const name = asText(kind);
  const problems = validateDns1035Label(name.toLowerCase());
  if (name === '') errors.push(...required(name, at.child('kind')));
  else if (problems.length > 0) {
    const message = `may have mixed case, but should otherwise match: ${problems.join(',')}`;
    errors.push(fieldError.invalid(at.child('kind'), name, message));
  }
  return errors;
}

const reserved = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

function validateVariable({ name, expression }: Fields, at: FieldPath): FieldError[] {
  const text = asText(name);
  const isIdentifier = /^[A-Za-z_][A-Za-z0-9_]*$/.test(text) && !reserved.has(text);
  return [
    ...(text.trim() === ''
      ? required('', at.child('name'), 'name is not specified')
      : isIdentifier
        ? []
        : [fieldError.invalid(at.child('name'), text, 'must be a valid CEL identifier')]),
    ...specified(expression, at.child('expression')),
  ];
}

function specified(expression: unknown, at: FieldPath, what = 'expression'): FieldError[] {
  return required(asText(expression).trim(), at, `${what} is not specified`);
}

const hasLineBreaks = (text: string): boolean => /[\n\r]/.test(text);

function validateValidation(validation: Fields, at: FieldPath): FieldError[] {
  const { expression, message, messageExpression, reason } = validation;
  const errors = specified(expression, at.child('expression'));
  const invalid = (field: string, detail: string) =>
    errors.push(fieldError.invalid(at.child(field), validation[field], detail));
  if (asText(messageExpression) !== '' && asText(messageExpression).trim() === '') {
    invalid('messageExpression', 'must be non-empty if specified');
  }
  const text = asText(message).trim();
  if (asText(message) !== '' && text === '') invalid('message', 'message must be non-empty if specified');
  else if (hasLineBreaks(text)) invalid('message', 'must not contain line breaks');
  else if (text === '' && hasLineBreaks(asText(expression).trim())) {
    errors.push(...required('', at.child('message'), 'must be specified if expression contains line breaks'));
  }
  return [...errors, ...oneOf(reason, at.child('reason'), reasons)];
}

function validateAuditAnnotations(policyName: string, annotations: unknown, at: FieldPath): FieldError[] {
  const list = asItems(annotations);
  const errors: FieldError[] = [];
  if (list.length > auditAnnotationsMax) {
    const message = `must not have more than ${auditAnnotationsMax} auditAnnotations`;
    errors.push(fieldError.invalid(at, annotations, message));
  }
  return [
    ...errors,
    ...each(annotations, at, ({ key, valueExpression }, where) => {
      const full = policyName === '' ? asText(key) : `${policyName}/${asText(key)}`;
      const problems = validateQualifiedName(full);
      const expression = asText(valueExpression).trim();
      return [
        ...problems.map((problem) => fieldError.invalid(where.child('key'), full, problem)),
        ...(Buffer.byteLength(expression) > auditExpressionBytesMax
          ? required('', where.child('valueExpression'), `must not exceed ${auditExpressionBytesMax} bytes in length`)
          : specified(expression, where.child('valueExpression'), 'valueExpression')),
      ];
    }),
    ...duplicates(
      list,
      ({ key }) => asText(key),
      (index) => at.index(index).child('key'),
    ),
  ];
}

/** The kind of patch, and the field with its expression. */
const patchFields: Readonly<Record<string, string>> = {
  ApplyConfiguration: 'applyConfiguration',
  JSONPatch: 'jsonPatch',
};

function validateMutation(mutation: Fields, at: FieldPath): FieldError[] {
  const type = asText(mutation['patchType']);
  const field = Object.hasOwn(patchFields, type) ? patchFields[type] : undefined;
  if (field === undefined) return oneOf(type, at.child('patchType'), Object.keys(patchFields));
  const errors: FieldError[] = [];
  if (!isSet(mutation[field])) {
    errors.push(...required(undefined, at.child(field), `must be specified when patchType is ${type}`));
  } else errors.push(...specified(asFields(mutation[field])['expression'], at.child(field, 'expression')));
  for (const other of Object.values(patchFields)) {
    if (other === field || !isSet(mutation[other])) continue;
    const message = `must not be specified when patchType is ${type}`;
    errors.push(fieldError.invalid(at.child(other), `{${other}}`, message));
  }
  return errors;
}

import type {
  AuditAnnotation,
  ParamKind,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicySpec,
  Validation,
  Variable,
} from '../../catalog/types/admissionregistration.v1.js';
import type { MutatingAdmissionPolicy, Mutation } from '../../catalog/types/admissionregistration.v1beta1.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { duplicates, each, hasLineBreaks, oneOf, required } from '../../machinery/field-rules.js';
import { parseApiVersion } from '../../machinery/gvk.js';
import { validateDns1035Label, validateDnsSubdomain, validateQualifiedName } from '../../machinery/names.js';
import { failurePolicies, validateMatchConditions, validateMatchResources } from './match.validation.js';

const auditAnnotationsMax = 20;
const auditExpressionBytesMax = 5 * 1024;
const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];

export function validateValidatingPolicy(
  { metadata, spec = {} }: ValidatingAdmissionPolicy,
  old: ValidatingAdmissionPolicy | undefined,
): FieldError[] {
  const at = path('spec');
  const { validations = [], auditAnnotations = [] } = spec;
  const errors = validateCommon(spec, old && (old.spec ?? {}), at);
  if (validations.length === 0 && auditAnnotations.length === 0) {
    const message = 'validations or auditAnnotations must contain at least one item';
    for (const field of ['validations', 'auditAnnotations']) {
      errors.push(...required(undefined, at.child(field), message));
    }
    return errors;
  }
  return [
    ...errors,
    ...each(validations, at.child('validations'), validateValidation),
    ...validateAuditAnnotations(metadata.name ?? '', auditAnnotations, at.child('auditAnnotations')),
  ];
}

export function validateMutatingPolicy(
  { spec = {} }: MutatingAdmissionPolicy,
  old: MutatingAdmissionPolicy | undefined,
): FieldError[] {
  const at = path('spec');
  const { mutations = [], reinvocationPolicy: reinvocation = '' } = spec;
  return [
    ...validateCommon(spec, old && (old.spec ?? {}), at),
    ...(mutations.length === 0
      ? required(undefined, at.child('mutations'), 'mutations must contain at least one item')
      : each(mutations, at.child('mutations'), validateMutation)),
    ...(reinvocation === ''
      ? required(reinvocation, at.child('reinvocationPolicy'))
      : oneOf(reinvocation, at.child('reinvocationPolicy'), ['IfNeeded', 'Never'])),
  ];
}

/** The fields that both kinds of policies have. */
type CommonSpec = Pick<
  ValidatingAdmissionPolicySpec,
  'paramKind' | 'matchConstraints' | 'matchConditions' | 'failurePolicy' | 'variables'
>;

function validateCommon(spec: CommonSpec, before: CommonSpec | undefined, at: FieldPath): FieldError[] {
  const { paramKind, matchConstraints: match } = spec;
  const { resourceRules = [] } = match ?? {};
  // Unchanged conditions stay valid, even if their validation has become stricter.
  const keepsConditions =
    before !== undefined &&
    deepEqual(spec.matchConditions ?? null, before.matchConditions ?? null) &&
    deepEqual(paramKind ?? null, before.paramKind ?? null);
  return [
    ...oneOf(spec.failurePolicy, at.child('failurePolicy'), failurePolicies),
    ...(paramKind ? validateParamKind(paramKind, at.child('paramKind')) : []),
    ...required(match, at.child('matchConstraints')),
    ...validateMatchResources(match, at.child('matchConstraints')),
    ...(match && resourceRules.length === 0 ? required(undefined, at.child('matchConstraints', 'resourceRules')) : []),
    ...(keepsConditions ? [] : validateMatchConditions(spec.matchConditions, at.child('matchConditions'))),
    ...each(spec.variables, at.child('variables'), validateVariable),
  ];
}

function validateParamKind({ apiVersion: version = '', kind = '' }: ParamKind, at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const parsed = parseApiVersion(version);
  const versionAt = at.child('apiVersion');
  if (version === '') errors.push(fieldError.required(versionAt));
  else if (!parsed) errors.push(fieldError.invalid(versionAt, version, `unexpected GroupVersion string: ${version}`));
  else {
    const groupProblems = parsed.group === '' ? [] : validateDnsSubdomain(parsed.group);
    const versionProblems = validateDns1035Label(parsed.version);
    if (groupProblems.length > 0) errors.push(fieldError.invalid(versionAt, parsed.group, groupProblems.join(',')));
    if (versionProblems.length > 0)
      errors.push(fieldError.invalid(versionAt, parsed.version, versionProblems.join(',')));
  }
  const problems = validateDns1035Label(kind.toLowerCase());
  if (kind === '') errors.push(...required(kind, at.child('kind')));
  else if (problems.length > 0) {
    const message = `may have mixed case, but should otherwise match: ${problems.join(',')}`;
    errors.push(fieldError.invalid(at.child('kind'), kind, message));
  }
  return errors;
}

/** The reserved words of CEL. */
const reserved = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

function validateVariable({ name = '', expression }: Variable, at: FieldPath): FieldError[] {
  const isIdentifier = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !reserved.has(name);
  return [
    ...(name.trim() === ''
      ? required('', at.child('name'), 'name is not specified')
      : isIdentifier
        ? []
        : [fieldError.invalid(at.child('name'), name, 'must be a valid CEL identifier')]),
    ...specified(expression, at.child('expression')),
  ];
}

function specified(expression: string | undefined, at: FieldPath, field = 'expression'): FieldError[] {
  return required((expression ?? '').trim(), at, `${field} is not specified`);
}

function validateValidation(validation: Validation, at: FieldPath): FieldError[] {
  const { expression = '', message = '', messageExpression = '', reason } = validation;
  const errors = specified(expression, at.child('expression'));
  const invalid = (field: keyof Validation, detail: string) =>
    errors.push(fieldError.invalid(at.child(field), validation[field], detail));
  if (messageExpression !== '' && messageExpression.trim() === '') {
    invalid('messageExpression', 'must be non-empty if specified');
  }
  const text = message.trim();
  if (message !== '' && text === '') invalid('message', 'message must be non-empty if specified');
  else if (hasLineBreaks(text)) invalid('message', 'must not contain line breaks');
  else if (text === '' && hasLineBreaks(expression.trim())) {
    errors.push(...required('', at.child('message'), 'must be specified if expression contains line breaks'));
  }
  return [...errors, ...oneOf(reason, at.child('reason'), reasons)];
}

function validateAuditAnnotations(
  policyName: string,
  annotations: readonly AuditAnnotation[],
  at: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  if (annotations.length > auditAnnotationsMax) {
    const message = `must not have more than ${auditAnnotationsMax} auditAnnotations`;
    errors.push(fieldError.invalid(at, annotations, message));
  }
  return [
    ...errors,
    ...each(annotations, at, ({ key = '', valueExpression = '' }, annotationAt) => {
      const full = policyName === '' ? key : `${policyName}/${key}`;
      const problems = validateQualifiedName(full);
      const expression = valueExpression.trim();
      return [
        ...problems.map((problem) => fieldError.invalid(annotationAt.child('key'), full, problem)),
        ...(Buffer.byteLength(expression) > auditExpressionBytesMax
          ? required(
              '',
              annotationAt.child('valueExpression'),
              `must not exceed ${auditExpressionBytesMax} bytes in length`,
            )
          : specified(expression, annotationAt.child('valueExpression'), 'valueExpression')),
      ];
    }),
    ...duplicates(
      annotations,
      ({ key = '' }) => key,
      (index) => at.index(index).child('key'),
    ),
  ];
}

/** The field with the expression, by patchType. */
const patchFields: ReadonlyMap<string, 'applyConfiguration' | 'jsonPatch'> = new Map([
  ['ApplyConfiguration', 'applyConfiguration'],
  ['JSONPatch', 'jsonPatch'],
]);

function validateMutation(mutation: Mutation, at: FieldPath): FieldError[] {
  const { patchType: type = '' } = mutation;
  const field = patchFields.get(type);
  if (field === undefined) return oneOf(type, at.child('patchType'), [...patchFields.keys()]);
  const errors: FieldError[] = [];
  const patch = mutation[field];
  if (!patch) {
    errors.push(...required(undefined, at.child(field), `must be specified when patchType is ${type}`));
  } else errors.push(...specified(patch.expression, at.child(field, 'expression')));
  for (const other of patchFields.values()) {
    if (other === field || !mutation[other]) continue;
    const message = `must not be specified when patchType is ${type}`;
    errors.push(fieldError.invalid(at.child(other), `{${other}}`, message));
  }
  return errors;
}

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
import { AdmissionCompiler } from '../../expressions/admission-compiler.js';
import { expressionErrors } from '../../expressions/expression-errors.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { duplicates, hasLineBreaks, oneOf, required } from '../../machinery/field-rules.js';
import { isSet } from '../../machinery/fields.js';
import { parseApiVersion } from '../../machinery/gvk.js';
import { validateDns1035Label, validateDnsSubdomain, validateQualifiedName } from '../../machinery/names.js';
import type { Steps } from '../../std/steps.js';
import {
  failurePolicies,
  modeOf,
  validateMatchConditions,
  validateMatchResources,
  validateMutatingOperations,
} from './match.validation.js';

const auditAnnotationsMax = 20;
const auditExpressionBytesMax = 5 * 1024;
const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];

/** Validates in steps, since every expression is compiled. */
export function* validateValidatingPolicy(
  { metadata, spec = {} }: ValidatingAdmissionPolicy,
  old: ValidatingAdmissionPolicy | undefined,
): Steps<FieldError[]> {
  const at = path('spec');
  const { validations = [], auditAnnotations = [], variables = [], paramKind } = spec;
  const hasParams = isSet(paramKind);
  const compiler = new AdmissionCompiler({ hasParams, hasVariables: variables.length > 0 });
  const before = old && (old.spec ?? {});
  const errors = yield* validateCommon(spec, before, at, compiler);
  if (validations.length === 0 && auditAnnotations.length === 0) {
    const message = 'validations or auditAnnotations must contain at least one item';
    for (const field of ['validations', 'auditAnnotations']) {
      errors.push(...required(undefined, at.child(field), message));
    }
    return errors;
  }
  const stored = {
    conditions: new Set(before?.validations?.map(({ expression = '' }) => expression)),
    messages: new Set(before?.validations?.map(({ messageExpression = '' }) => messageExpression)),
    annotations: new Set(before?.auditAnnotations?.map(({ valueExpression = '' }) => valueExpression)),
  };
  for (const [index, validation] of validations.entries()) {
    yield;
    errors.push(...(yield* validateValidation(validation, at.child('validations').index(index), compiler, stored)));
  }
  const annotationsAt = at.child('auditAnnotations');
  const annotated = { policyName: metadata.name ?? '', compiler, stored: stored.annotations };
  errors.push(...(yield* validateAuditAnnotations(auditAnnotations, annotationsAt, annotated)));
  return errors;
}

/** Validates in steps, since every expression is compiled. */
export function* validateMutatingPolicy(
  { spec = {} }: MutatingAdmissionPolicy,
  old: MutatingAdmissionPolicy | undefined,
): Steps<FieldError[]> {
  const at = path('spec');
  const { mutations = [], reinvocationPolicy: reinvocation = '', matchConstraints } = spec;
  const compiler = new AdmissionCompiler({ hasParams: isSet(spec.paramKind), hasVariables: true });
  const before = old && (old.spec ?? {});
  const errors = yield* validateCommon(spec, before, at, compiler, () =>
    validateMutatingOperations(matchConstraints, at.child('matchConstraints')),
  );
  const stored = new Set(before?.mutations?.flatMap(expressionsOfMutation));
  if (mutations.length === 0) {
    errors.push(...required(undefined, at.child('mutations'), 'mutations must contain at least one item'));
  }
  for (const [index, mutation] of mutations.entries()) {
    yield;
    errors.push(...(yield* validateMutation(mutation, at.child('mutations').index(index), compiler, stored)));
  }
  const reinvocationAt = at.child('reinvocationPolicy');
  errors.push(
    ...(reinvocation === ''
      ? required(reinvocation, reinvocationAt)
      : oneOf(reinvocation, reinvocationAt, ['IfNeeded', 'Never'])),
  );
  return errors;
}

/** The fields that both kinds of policies have. */
type CommonSpec = Pick<
  ValidatingAdmissionPolicySpec,
  'paramKind' | 'matchConstraints' | 'matchConditions' | 'failurePolicy' | 'variables'
>;

function* validateCommon(
  spec: CommonSpec,
  before: CommonSpec | undefined,
  at: FieldPath,
  compiler: AdmissionCompiler,
  validateOperations: () => FieldError[] = () => [],
): Steps<FieldError[]> {
  const { paramKind, matchConstraints: match, variables = [] } = spec;
  const { resourceRules = [] } = match ?? {};
  // Unchanged conditions stay valid, even if their validation has become stricter.
  const keepsConditions =
    before !== undefined &&
    deepEqual(spec.matchConditions ?? null, before.matchConditions ?? null) &&
    deepEqual(paramKind ?? null, before.paramKind ?? null);
  const errors = [
    ...oneOf(spec.failurePolicy, at.child('failurePolicy'), failurePolicies),
    ...(paramKind ? validateParamKind(paramKind, at.child('paramKind')) : []),
    ...required(match, at.child('matchConstraints')),
    ...validateMatchResources(match, at.child('matchConstraints')),
    ...(match && resourceRules.length === 0 ? required(undefined, at.child('matchConstraints', 'resourceRules')) : []),
    ...validateOperations(),
  ];
  if (!keepsConditions) {
    const stored = new Set(before?.matchConditions?.map(({ expression = '' }) => expression));
    const conditionsAt = at.child('matchConditions');
    errors.push(...(yield* validateMatchConditions(spec.matchConditions, conditionsAt, compiler, stored)));
  }
  const stored = new Set(before?.variables?.map(({ expression = '' }) => expression));
  for (const [index, variable] of variables.entries()) {
    yield;
    errors.push(...(yield* validateVariable(variable, at.child('variables').index(index), compiler, stored)));
  }
  return errors;
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

function* validateVariable(
  { name = '', expression = '' }: Variable,
  at: FieldPath,
  compiler: AdmissionCompiler,
  stored: ReadonlySet<string>,
): Steps<FieldError[]> {
  const isIdentifier = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !reserved.has(name);
  const errors =
    name.trim() === ''
      ? required('', at.child('name'), 'name is not specified')
      : isIdentifier
        ? []
        : [fieldError.invalid(at.child('name'), name, 'must be a valid CEL identifier')];
  const expressionAt = at.child('expression');
  if (expression.trim() === '') return [...errors, fieldError.required(expressionAt, 'expression is not specified')];
  const compiled = yield* compiler.compileVariable(name, expression, modeOf(expression, stored));
  return [...errors, ...expressionErrors(compiled, expression, expressionAt)];
}

interface StoredValidations {
  readonly conditions: ReadonlySet<string>;
  readonly messages: ReadonlySet<string>;
}

function* validateValidation(
  validation: Validation,
  at: FieldPath,
  compiler: AdmissionCompiler,
  stored: StoredValidations,
): Steps<FieldError[]> {
  const { expression = '', message = '', messageExpression = '', reason } = validation;
  const expressionAt = at.child('expression');
  const errors =
    expression.trim() === ''
      ? [fieldError.required(expressionAt, 'expression is not specified')]
      : expressionErrors(
          yield* compiler.compile('validation', expression, modeOf(expression, stored.conditions)),
          expression,
          expressionAt,
        );
  const messageAt = at.child('messageExpression');
  if (messageExpression.trim() !== '') {
    const compiled = yield* compiler.compile('message', messageExpression, modeOf(messageExpression, stored.messages));
    errors.push(...expressionErrors(compiled, messageExpression, messageAt));
  } else if (messageExpression !== '') {
    errors.push(fieldError.invalid(messageAt, messageExpression, 'must be non-empty if specified'));
  }
  const refuseMessage = (detail: string) => errors.push(fieldError.invalid(at.child('message'), message, detail));
  if (message !== '' && message.trim() === '') refuseMessage('must be non-empty if specified');
  else if (hasLineBreaks(message.trim())) refuseMessage('must not contain line breaks');
  return [...errors, ...oneOf(reason, at.child('reason'), reasons)];
}

interface AnnotatedPolicy {
  readonly policyName: string;
  readonly compiler: AdmissionCompiler;
  readonly stored: ReadonlySet<string>;
}

function* validateAuditAnnotations(
  annotations: readonly AuditAnnotation[],
  at: FieldPath,
  policy: AnnotatedPolicy,
): Steps<FieldError[]> {
  const errors: FieldError[] = [];
  if (annotations.length > auditAnnotationsMax) {
    const message = `must not have more than ${auditAnnotationsMax} auditAnnotations`;
    errors.push(fieldError.invalid(at, annotations, message));
  }
  for (const [index, { key = '', valueExpression = '' }] of annotations.entries()) {
    yield;
    const full = policy.policyName === '' ? key : `${policy.policyName}/${key}`;
    for (const problem of validateQualifiedName(full)) {
      errors.push(fieldError.invalid(at.index(index).child('key'), full, problem));
    }
    errors.push(...(yield* validateAuditExpression(valueExpression, at.index(index).child('valueExpression'), policy)));
  }
  return [
    ...errors,
    ...duplicates(
      annotations,
      ({ key = '' }) => key,
      (index) => at.index(index).child('key'),
    ),
  ];
}

function* validateAuditExpression(
  expression: string,
  at: FieldPath,
  { compiler, stored }: AnnotatedPolicy,
): Steps<FieldError[]> {
  const trimmed = expression.trim();
  if (trimmed === '') return [fieldError.required(at, 'valueExpression is not specified')];
  if (Buffer.byteLength(trimmed) > auditExpressionBytesMax) {
    return [fieldError.required(at, `must not exceed ${auditExpressionBytesMax} bytes in length`)];
  }
  const compiled = yield* compiler.compile('auditAnnotation', trimmed, modeOf(expression, stored));
  return expressionErrors(compiled, expression, at);
}

/** The field with the expression, by patchType. */
const patchFields: ReadonlyMap<string, 'applyConfiguration' | 'jsonPatch'> = new Map([
  ['ApplyConfiguration', 'applyConfiguration'],
  ['JSONPatch', 'jsonPatch'],
]);

const expressionsOfMutation = ({ applyConfiguration, jsonPatch }: Mutation): string[] => [
  applyConfiguration?.expression ?? '',
  jsonPatch?.expression ?? '',
];

function* validateMutation(
  mutation: Mutation,
  at: FieldPath,
  compiler: AdmissionCompiler,
  stored: ReadonlySet<string>,
): Steps<FieldError[]> {
  const { patchType: type = '' } = mutation;
  const typeAt = at.child('patchType');
  const field = patchFields.get(type);
  if (field === undefined) return type === '' ? required(type, typeAt) : oneOf(type, typeAt, [...patchFields.keys()]);
  const errors: FieldError[] = [];
  const patch = mutation[field];
  const expressionAt = at.child(field, 'expression');
  if (!patch) {
    errors.push(...required(undefined, at.child(field), `must be specified when patchType is ${type}`));
  } else {
    const { expression = '' } = patch;
    const trimmed = expression.trim();
    errors.push(
      ...(trimmed === ''
        ? required(trimmed, expressionAt)
        : expressionErrors(yield* compiler.compile(field, trimmed, modeOf(expression, stored)), trimmed, expressionAt)),
    );
  }
  for (const other of patchFields.values()) {
    if (other === field || !mutation[other]) continue;
    const message = `must not be specified when patchType is ${type}`;
    errors.push(fieldError.invalid(at.child(other), `{${other}}`, message));
  }
  return errors;
}

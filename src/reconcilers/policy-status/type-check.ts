import type { ExpressionWarning, ValidatingAdmissionPolicy } from '../../catalog/types/admissionregistration.v1.js';
import { AdmissionCompiler, type DeclaredObjects } from '../../expressions/admission-compiler.js';
import { path, type FieldPath } from '../../machinery/field-error.js';
import { apiVersionOf, type GroupVersionKind } from '../../machinery/gvk.js';
import type { Steps } from '../../std/steps.js';

/** A kind that a policy matches. */
interface CheckedKind {
  readonly kind: GroupVersionKind;
  readonly objects: DeclaredObjects;
}

/**
 * Returns the errors of types in the validations of a policy, for the kinds that its rules name. A variable that does not
 * compile is dyn, and no error itself, as in kube-apiserver.
 */
export function* typeWarnings(
  { spec = {} }: ValidatingAdmissionPolicy,
  kinds: readonly CheckedKind[],
): Steps<ExpressionWarning[]> {
  const at = path('spec').child('validations');
  const compilers: { readonly kind: GroupVersionKind; readonly compiler: AdmissionCompiler }[] = [];
  const { variables = [] } = spec;
  for (const { kind, objects } of kinds) {
    const hasParams = objects.params !== undefined;
    const compiler = new AdmissionCompiler({ hasParams, hasVariables: variables.length > 0, objects });
    for (const { name = '', expression = '' } of variables) yield* compiler.compileVariable(name, expression, 'stored');
    compilers.push({ kind, compiler });
  }
  const warnings: ExpressionWarning[] = [];
  for (const [index, { expression = '', messageExpression = '' }] of (spec.validations ?? []).entries()) {
    yield* check(expression, at.index(index).child('expression'));
    if (messageExpression !== '') yield* check(messageExpression, at.index(index).child('messageExpression'));
  }
  return warnings;

  function* check(expression: string, field: FieldPath): Steps<void> {
    const problems: string[] = [];
    for (const { kind, compiler } of compilers) {
      yield;
      const { problem } = yield* compiler.compile('typeCheck', expression, 'stored');
      if (problem) problems.push(`${shownKind(kind)}: ${problem.text.replace('compilation failed: ', '')}\n`);
    }
    if (problems.length > 0) warnings.push({ fieldRef: String(field), warning: problems.join('\n') });
  }
}

const shownKind = ({ group, version, kind }: GroupVersionKind): string =>
  `${group === '' ? '/' : ''}${apiVersionOf(group, version)}, Kind=${kind}`;

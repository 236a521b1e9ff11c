import type { Environment } from '../cel/environment.js';
import type { Outcome } from '../cel/evaluate/program.js';
import { matching, type Expr } from '../cel/syntax/ast.js';
import { listOf, types } from '../cel/types.js';
import { elementsOf, isList } from '../cel/values/lists.js';
import { claimsMap } from './claims-values.js';
import { list, struct, text } from './declared-types.js';
import { environmentOf } from './environment.js';

/** `claims`: those of a token. `user`: the user that they were mapped to. An expression sees one of the two. */
export type AuthenticationVariable = 'claims' | 'user';

const variables = {
  claims: claimsMap(types.any),
  user: struct('kubernetes.UserInfo', {
    username: text,
    uid: text,
    groups: list(text),
    extra: claimsMap(listOf(types.string)),
  }),
};

const environments = new Map<AuthenticationVariable, Environment>();

function environmentFor(variable: AuthenticationVariable): Environment {
  let environment = environments.get(variable);
  if (!environment) {
    environment = environmentOf('stored', { variables: { [variable]: variables[variable] } });
    environments.set(variable, environment);
  }
  return environment;
}

/** An expression of an AuthenticationConfiguration. */
export interface AuthenticationExpression {
  readonly text: string;
  evaluate(bindings: Readonly<Record<string, unknown>>, costLimit: number): Outcome;
  /** True if the expression selects this claim: `claims.email`, `claims.?email`, `has(claims.email)`. */
  selectsClaim(name: string): boolean;
}

type Compiled =
  | { readonly expression: AuthenticationExpression; readonly problem?: undefined }
  | { readonly expression?: undefined; readonly problem: string };

/** Compiles an expression; `isCondition` if its result must be a bool. Results of others are checked when it is used. */
export function compileAuthenticationExpression(
  variable: AuthenticationVariable,
  source: string,
  isCondition: boolean,
): Compiled {
  const compiled = environmentFor(variable).compile(source);
  if (!compiled.isOk) return { problem: `compilation failed: ${compiled.message}` };
  const { program, resultType, expr } = compiled;
  if (isCondition && !resultType.equals(types.bool)) return { problem: 'must evaluate to bool' };
  if (program instanceof Error) return { problem: `program instantiation failed: ${program.message}` };
  const selected = selectedClaims(expr);
  return {
    expression: {
      text: source,
      evaluate: (bindings, costLimit) => program.evaluate(bindings, { costLimit }),
      selectsClaim: (name) => selected.has(name),
    },
  };
}

function selectedClaims(root: Expr): ReadonlySet<string> {
  const isClaims = (expr: Expr | undefined) => expr?.kind === 'ident' && expr.name === 'claims';
  const names = matching(root, ({ kind }) => kind === 'select' || kind === 'call').flatMap((expr) => {
    if (expr.kind === 'select') return isClaims(expr.operand) ? [expr.field] : [];
    if (expr.kind !== 'call' || expr.fn !== '_?._' || !isClaims(expr.args[0])) return [];
    const field = expr.args[1];
    return field?.kind === 'literal' && typeof field.value === 'string' ? [field.value] : [];
  });
  return new Set(names);
}

/** Returns the non-empty texts of a result that is a text, a list of texts or null; undefined for other results. */
export function textsOf(value: (Outcome & { readonly isOk: true })['value']): string[] | undefined {
  if (value === null || value === '') return [];
  if (typeof value === 'string') return [value];
  if (!isList(value)) return undefined;
  const texts: string[] = [];
  for (const element of elementsOf(value)) {
    if (typeof element !== 'string') return undefined;
    if (element !== '') texts.push(element);
  }
  return texts;
}

import type { Checked } from '../check/checker.js';
import type { Validator } from '../check/validators.js';
import type { Expr } from '../syntax/ast.js';
import { matching } from '../syntax/ast.js';
import type { CelType, TypeKind } from '../types.js';
import type { Clauses } from './format-text.js';
import { clauseErrors, FormatProblem, interpolate } from './format-text.js';

/** Checks the types of the arguments of a literal format, where they are written in place. */
export const formatValidator: Validator = (checked, report) => {
  const calls = matching(
    checked.expr,
    (expr) => expr.kind === 'call' && expr.fn === 'format' && expr.target?.kind === 'literal',
  );
  for (const call of calls) {
    if (call.kind !== 'call' || call.target?.kind !== 'literal' || typeof call.target.value !== 'string') continue;
    const list = call.args[0];
    if (call.args.length !== 1 || list?.kind !== 'list') continue;
    const { elements } = list;
    let requested = 0;
    const clauses = checking(checked, () => elements[requested - 1]!);
    const result = interpolate(call.target.value, elements.length, () => (requested++, 0), clauses, {
      looksAtEndFirst: true,
    });
    if (result instanceof WrongArgument) report(result.expr, result.message);
    else if (result instanceof FormatProblem) report(call, result.message);
    else if (elements.length > requested)
      report(call, `too many arguments supplied to string.format (expected ${requested}, got ${elements.length})`);
  }
};

class WrongArgument extends FormatProblem {
  constructor(
    readonly expr: Expr,
    message: string,
  ) {
    super(message);
  }
}

function checking(checked: Checked, current: () => Expr): Clauses {
  const typeOf = (expr: Expr): CelType => checked.types[expr.id]!;
  const isOneOf = (expr: Expr, kinds: readonly TypeKind[]): boolean =>
    typeOf(expr).kind === 'dyn' || kinds.includes(typeOf(expr).kind);
  const oneOf = (clause: keyof typeof clauseErrors, kinds: readonly TypeKind[]) => (): string | FormatProblem => {
    const expr = current();
    return isOneOf(expr, kinds) ? '' : new WrongArgument(expr, clauseErrors[clause](typeOf(expr).name));
  };
  const wrongText = (expr: Expr): Expr | undefined => {
    if (!isOneOf(expr, texts)) return expr;
    if (expr.kind === 'list') return firstOf(expr.elements, wrongText);
    if (expr.kind === 'map')
      return firstOf(
        expr.entries.flatMap(({ key, value }) => [key, value]),
        wrongText,
      );
    return undefined;
  };
  return {
    string: () => {
      const wrong = wrongText(current());
      return wrong ? new WrongArgument(wrong, clauseErrors.string(typeOf(wrong).name)) : '';
    },
    decimal: oneOf('decimal', ['int', 'uint']),
    fixed: oneOf('fixed', ['double', 'string']),
    scientific: oneOf('scientific', ['double', 'string']),
    binary: oneOf('binary', ['int', 'uint', 'bool']),
    hex: oneOf('hex', ['int', 'uint', 'string', 'bytes']),
    octal: oneOf('octal', ['int', 'uint']),
  };
}

const texts: readonly TypeKind[] = [
  'list',
  'map',
  'int',
  'uint',
  'double',
  'bool',
  'string',
  'timestamp',
  'bytes',
  'duration',
  'type',
  'null',
];

function firstOf<T, R>(items: readonly T[], find: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

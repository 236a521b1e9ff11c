import type { Source } from '../source.js';
import type { CallExpr, Expr, MapEntry, StructField } from './ast.js';
import type { Token, TokenKind } from './lexer.js';
import { tokenize } from './lexer.js';
import { defaultExpressionCodePointsMax, nestingMax } from './limits.js';
import { literalValue } from './literals.js';
import type { Macro } from './macros.js';
import { MacroError, MacroFactory, macroOf } from './macros.js';
import { NotAnExpression, TokenCursor } from './token-cursor.js';
import { reportSyntaxErrors } from './syntax-errors.js';

export interface ParserOptions {
  readonly macros: ReadonlyMap<string, Macro>;
  /** True if `a.?b`, `a[?b]`, `[?a]` and `{?a: b}` are part of the language. */
  readonly hasOptionalSyntax: boolean;
  readonly expressionCodePointsMax?: number;
}

/** A tree, and for the id of each expression the offset of its place. */
export interface Parsed {
  readonly expr: Expr;
  readonly offsets: number[];
}

class NestedTooDeeply extends Error {}

const reserved = new Set(
  'as break const continue else false for function if import in let loop package namespace null return true var void while'.split(
    ' ',
  ),
);
const relations = new Set<TokenKind>(['<', '<=', '>=', '>', '==', '!=', 'in']);

/** Parses an expression; undefined if the source has errors after it. */
export function parse(source: Source, options: ParserOptions): Parsed | undefined {
  const max = options.expressionCodePointsMax ?? defaultExpressionCodePointsMax;
  if (source.text.length > max) {
    const size = Array.from(source.text).length;
    if (size > max) {
      source.report(-1, `expression code point size exceeds limit: size: ${size}, limit ${max}`);
      return undefined;
    }
  }
  const { tokens, errors } = tokenize(source.text);
  const parser = new Parser(source, tokens, options);
  try {
    const expr = errors.length === 0 ? parser.start() : undefined;
    if (expr && !source.hasErrors) return { expr, offsets: parser.offsets };
    if (!expr) reportSyntaxErrors(source, tokens, errors);
  } catch (error) {
    if (error instanceof NotAnExpression) reportSyntaxErrors(source, tokens, errors);
    else if (error instanceof NestedTooDeeply) source.report(-1, error.message);
    else throw error;
  }
  return undefined;
}

class Parser extends TokenCursor {
  private nesting = 0;
  /** The number of operators, selections and calls that are nested in what was parsed last. */
  private depth = 0;
  private readonly factory: MacroFactory;

  constructor(
    source: Source,
    tokens: readonly Token[],
    private readonly options: ParserOptions,
  ) {
    super(source, tokens);
    this.factory = new MacroFactory(this.offsets);
  }

  start(): Expr {
    const expr = this.expr();
    this.take('EOF');
    if (this.depth > nestingMax) throw new NestedTooDeeply('max recursion depth exceeded');
    return expr;
  }

  private expr(): Expr {
    if (++this.nesting > nestingMax) throw new NestedTooDeeply(`expression recursion limit exceeded: ${nestingMax}`);
    const condition = this.logical('||');
    const operator = this.takeIf('?');
    let result = condition;
    if (operator) {
      const id = this.id(operator.start);
      const conditionDepth = this.depth;
      const truthy = this.logical('||');
      const truthyDepth = this.depth;
      this.take(':');
      const falsy = this.expr();
      this.depth = 1 + Math.max(conditionDepth, truthyDepth, this.depth);
      result = this.call(id, '_?_:_', undefined, [condition, truthy, falsy]);
    }
    this.nesting--;
    return result;
  }

  /** Terms joined by `||` or `&&`, as a balanced tree. */
  private logical(operator: '||' | '&&'): Expr {
    const next = (): Expr => (operator === '||' ? this.logical('&&') : this.relation());
    const terms = [next()];
    const ids: number[] = [];
    let depth = this.depth;
    for (let token = this.takeIf(operator); token; token = this.takeIf(operator)) {
      terms.push(next());
      depth = Math.max(depth, this.depth);
      ids.push(this.id(token.start));
    }
    this.depth = depth;
    return terms.length === 1 ? terms[0]! : balanced(`_${operator}_`, terms, ids, 0, ids.length - 1);
  }

  private relation(): Expr {
    let left = this.sum();
    while (relations.has(this.token.kind)) {
      const token = this.next();
      left = this.binary(token.kind === 'in' ? '@in' : `_${token.kind}_`, left, token, () => this.sum());
    }
    return left;
  }
  private sum(): Expr {
    let left = this.product();
    while (this.token.kind === '+' || this.token.kind === '-') {
      const token = this.next();
      left = this.binary(`_${token.kind}_`, left, token, () => this.product());
    }
    return left;
  }
  private product(): Expr {
    let left = this.unary();
    while (this.token.kind === '*' || this.token.kind === '/' || this.token.kind === '%') {
      const token = this.next();
      left = this.binary(`_${token.kind}_`, left, token, () => this.unary());
    }
    return left;
  }
  private binary(fn: string, left: Expr, token: Token, parseRight: () => Expr): Expr {
    const depth = this.depth;
    const id = this.id(token.start);
    const right = parseRight();
    this.depth = 1 + Math.max(depth, this.depth);
    return this.call(id, fn, undefined, [left, right]);
  }

  private unary(): Expr {
    const token = this.token;
    if (token.kind !== '!' && token.kind !== '-') return this.member();
    const next = this.kindAt(1);
    if (token.kind === '-' && (next === 'NUM_INT' || next === 'NUM_FLOAT')) return this.member();
    let count = 0;
    while (this.takeIf(token.kind)) count++;
    if (count % 2 === 0) return this.member();
    const id = this.id(token.start);
    return this.call(id, token.kind === '!' ? '!_' : '-_', undefined, [this.member()]);
  }

  private member(): Expr {
    let operand = this.primary();
    for (;;) {
      const token = this.token;
      if (token.kind === '.') operand = this.selection(operand);
      else if (token.kind === '[') operand = this.index(operand);
      else return operand;
    }
  }

  private selection(operand: Expr): Expr {
    const dot = this.take('.');
    const isOptional = this.takeIf('?') !== undefined;
    const name = this.takeIf('ESC_IDENTIFIER') ?? this.take('IDENTIFIER');
    const depth = this.depth + 1;
    const open = isOptional || name.kind !== 'IDENTIFIER' ? undefined : this.takeIf('(');
    if (open) {
      const id = this.id(open.start);
      const args = this.args(')');
      this.depth = Math.max(depth, this.depth + 1);
      return this.call(id, this.text(name), operand, args);
    }
    this.depth = depth;
    if (name.kind === 'ESC_IDENTIFIER') this.source.report(name.start, "unsupported syntax: '`'");
    if (!isOptional) return { kind: 'select', id: this.id(dot.start), operand, field: this.text(name), isTest: false };
    if (!this.options.hasOptionalSyntax) return this.error(dot.start, "unsupported syntax '.?'");
    const field: Expr = { kind: 'literal', id: this.id(name.start), value: this.text(name) };
    return this.call(this.id(dot.start), '_?._', undefined, [operand, field]);
  }

  private index(operand: Expr): Expr {
    const open = this.take('[');
    const id = this.id(open.start);
    const isOptional = this.takeIf('?') !== undefined;
    const depth = this.depth;
    const index = this.expr();
    this.take(']');
    this.depth = 1 + Math.max(depth, this.depth);
    if (isOptional && !this.options.hasOptionalSyntax) return this.error(open.start, "unsupported syntax '[?'");
    return this.call(id, isOptional ? '_[?_]' : '_[_]', undefined, [operand, index]);
  }

  /** Expressions between commas until `close`; a comma at the end is no part of a call. */
  private args(close: ')'): Expr[] {
    const args: Expr[] = [];
    let depth = 0;
    if (!this.takeIf(close)) {
      do {
        args.push(this.expr());
        depth = Math.max(depth, this.depth);
      } while (this.takeIf(','));
      this.take(close);
    }
    this.depth = depth;
    return args;
  }

  private primary(): Expr {
    const token = this.token;
    switch (token.kind) {
      case '(': {
        this.at++;
        const inner = this.expr();
        this.take(')');
        return inner;
      }
      case '[':
        return this.list();
      case '{':
        return this.map();
      case '.':
      case 'IDENTIFIER':
        return this.named();
      default:
        return this.literal();
    }
  }

  private list(): Expr {
    const id = this.id(this.take('[').start);
    const elements: Expr[] = [];
    const optionals: number[] = [];
    let depth = 0;
    this.sequence(']', () => {
      const mark = this.takeIf('?');
      elements.push(this.expr());
      depth = Math.max(depth, this.depth);
      if (mark && this.options.hasOptionalSyntax) optionals.push(elements.length - 1);
      else if (mark) this.source.report(mark.start, "unsupported syntax '?'");
    });
    this.depth = depth;
    return { kind: 'list', id, elements, optionals };
  }

  private map(): Expr {
    const id = this.id(this.take('{').start);
    const entries: MapEntry[] = [];
    let depth = 0;
    this.sequence('}', () => {
      const mark = this.takeIf('?');
      if (mark && !this.options.hasOptionalSyntax) this.source.report(mark.start, "unsupported syntax '?'");
      const key = this.expr();
      depth = Math.max(depth, this.depth);
      const entryId = this.id(this.take(':').start);
      const value = this.expr();
      depth = Math.max(depth, this.depth);
      entries.push({ id: entryId, key, value, isOptional: mark !== undefined });
    });
    this.depth = depth;
    return { kind: 'map', id, entries };
  }

  private struct(name: string): Expr {
    const id = this.id(this.take('{').start);
    const fields: StructField[] = [];
    let depth = 0;
    this.sequence('}', () => {
      const mark = this.takeIf('?');
      const field = this.takeIf('ESC_IDENTIFIER') ?? this.take('IDENTIFIER');
      if (mark && !this.options.hasOptionalSyntax) this.source.report(mark.start, "unsupported syntax '?'");
      if (field.kind === 'ESC_IDENTIFIER') this.source.report(field.start, "unsupported syntax: '`'");
      const fieldId = this.id(this.take(':').start);
      const value = this.expr();
      depth = Math.max(depth, this.depth);
      fields.push({ id: fieldId, name: this.text(field), value, isOptional: mark !== undefined });
    });
    this.depth = depth;
    return { kind: 'struct', id, name, fields };
  }

  /** Items between commas, the last of which may be followed by one more. */
  private sequence(close: ']' | '}', parseItem: () => void): void {
    if (this.takeIf(',')) {
      this.take(close);
      return;
    }
    while (!this.takeIf(close)) {
      parseItem();
      if (this.takeIf(',')) continue;
      this.take(close);
      return;
    }
  }

  /** A variable, a call, or a message: names between dots before `{`. */
  private named(): Expr {
    const dot = this.takeIf('.');
    const token = this.take('IDENTIFIER');
    let ahead = 0;
    while (this.kindAt(ahead) === '.' && this.kindAt(ahead + 1) === 'IDENTIFIER') ahead += 2;
    if (this.kindAt(ahead) === '{') {
      const names = [this.text(token)];
      for (; ahead > 0; ahead -= 2) {
        this.take('.');
        names.push(this.text(this.take('IDENTIFIER')));
      }
      return this.struct((dot ? '.' : '') + names.join('.'));
    }
    const name = this.text(token);
    const open = this.takeIf('(');
    const id = open ? this.id(open.start) : 0;
    const args = open ? this.args(')') : undefined;
    if (!args) this.depth = 0;
    if (reserved.has(name)) return this.error((dot ?? token).start, `reserved identifier: ${name}`);
    const fullName = (dot ? '.' : '') + name;
    if (args) return this.call(id, fullName, undefined, args);
    return { kind: 'ident', id: this.id(token.start), name: fullName };
  }

  private literal(): Expr {
    const first = this.token;
    const isNegative = this.takeIf('-') !== undefined;
    const token = this.token;
    this.depth = 0;
    this.at++;
    if (isNegative && token.kind !== 'NUM_INT' && token.kind !== 'NUM_FLOAT') throw new NotAnExpression();
    const value = literalValue(token.kind, this.text(token), isNegative);
    if (value === undefined) throw new NotAnExpression();
    if (value instanceof Error) return this.error(first.start, value.message);
    return { kind: 'literal', id: this.id(first.start), value };
  }

  /** The call, or what a macro makes of it. */
  private call(id: number, fn: string, target: Expr | undefined, args: Expr[]): Expr {
    const call: CallExpr = { kind: 'call', id, target, fn, args };
    const macro = macroOf(this.options.macros, call);
    if (!macro) return call;
    const offset = this.offsets[id]!;
    try {
      return macro.expand(this.factory.at(offset), target as Expr, args) ?? call;
    } catch (error) {
      if (!(error instanceof MacroError)) throw error;
      return this.error(error.exprId === undefined ? offset : this.offsets[error.exprId]!, error.message);
    }
  }
}

function balanced(fn: string, terms: readonly Expr[], ids: readonly number[], low: number, high: number): Expr {
  const middle = (low + high + 1) >> 1;
  const left = middle === low ? terms[middle]! : balanced(fn, terms, ids, low, middle - 1);
  const right = middle === high ? terms[middle + 1]! : balanced(fn, terms, ids, middle + 1, high);
  return { kind: 'call', id: ids[middle]!, target: undefined, fn, args: [left, right] };
}

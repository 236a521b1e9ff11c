import type { Source } from '../source.js';
import type { Decision, First, GrammarNode, RuleName } from './grammar.js';
import { firstOf, formatTokens, grammar } from './grammar.js';
import type { LexicalError, Token, TokenKind } from './lexer.js';
import { nestingMax } from './limits.js';

/**
 * The messages about a text that is no expression. The reference's parser is made by a generator, and goes on after an
 * error as such parsers do: it leaves a token out, takes one for granted, or skips to where a surrounding rule goes on.
 * This pass does the same, and is made only after the fast one has failed.
 */
const reportsMax = 100;
const recoveriesMax = 30;
const skippedMax = 256;

/** Ends a rule, whose caller goes on behind what was skipped. */
class Unexpected extends Error {
  constructor(
    readonly report: () => void,
    readonly state: GrammarNode,
  ) {
    super();
  }
}
/** Ends the pass. */
class GivenUp extends Error {}

export function reportSyntaxErrors(source: Source, tokens: readonly Token[], errors: readonly LexicalError[]): void {
  const pass = new RecoveringPass(source, tokens, errors);
  try {
    pass.run();
  } catch (error) {
    if (error instanceof RangeError) source.report(-1, `expression recursion limit exceeded: ${nestingMax}`);
    else if (!(error instanceof GivenUp)) throw error;
  }
}

/** The rest of a rule, and of the rules around it. */
interface Context {
  readonly rest: readonly GrammarNode[];
  readonly outer: Context | undefined;
}

class RecoveringPass {
  private at = 0;
  private reports = 0;
  private nesting = 0;
  private recoveries = 0;
  /** True from an error to the next token that fits, so that one mistake is reported once. */
  private isRecovering = false;
  private lastErrorAt = -1;
  private readonly lastErrorStates = new Set<GrammarNode>();
  private nextLexicalError = 0;

  constructor(
    private readonly source: Source,
    private readonly tokens: readonly Token[],
    private readonly lexicalErrors: readonly LexicalError[],
  ) {}

  run(): void {
    this.fetch();
    this.rule('start', undefined);
  }

  private get token(): Token {
    return this.tokens[this.at]!;
  }
  private kindAt(ahead: number): TokenKind {
    return this.tokens[Math.min(this.at + ahead, this.tokens.length - 1)]!.kind;
  }
  private consume(): void {
    if (this.at < this.tokens.length - 1) this.at++;
    this.fetch();
  }

  /** Reports what is no token before the current one: tokens are read when they are needed. */
  private fetch(): void {
    for (; this.nextLexicalError < this.lexicalErrors.length; this.nextLexicalError++) {
      const { start, end } = this.lexicalErrors[this.nextLexicalError]!;
      if (start > this.token.start) return;
      this.report(start, `token recognition error at: '${this.source.text.slice(start, end)}'`);
    }
  }

  private report(offset: number, message: string): void {
    if (++this.reports <= reportsMax) {
      this.source.report(offset, `Syntax error: ${message}`);
      return;
    }
    this.source.report(offset, `Syntax error: More than ${reportsMax} syntax errors`);
    throw new GivenUp();
  }

  private rule(name: RuleName, outer: Context | undefined): void {
    if (name === 'expr' && ++this.nesting > nestingMax) {
      this.source.report(-1, `expression recursion limit exceeded: ${nestingMax}`);
      throw new GivenUp();
    }
    try {
      const node = grammar[name];
      if (node.is === 'sequence') this.sequence(node.parts, { rest: [], outer });
      else this.read(node, { rest: [], outer });
    } catch (error) {
      if (!(error instanceof Unexpected)) throw error;
      if (!this.isRecovering) {
        this.isRecovering = true;
        error.report();
      }
      this.recover(error.state, outer);
    }
    if (name === 'expr') this.nesting--;
  }

  /** A loop without functions of its own: nested expressions take more than ten rules each, and the stack is limited. */
  private sequence(parts: readonly GrammarNode[], context: Context): void {
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index]!;
      const inner = { outer: context.outer, rest: [...parts.slice(index + 1), ...context.rest] };
      if (part.is === 'rule') this.rule(part.name, inner);
      else this.read(part, inner);
    }
  }

  /** Reads a part of a rule; `context.rest` is what the rule has behind it. */
  private read(node: GrammarNode, context: Context): void {
    switch (node.is) {
      case 'token':
        this.match(node, context);
        return;
      case 'rule':
        this.rule(node.name, context);
        return;
      case 'sequence':
        this.sequence(node.parts, context);
        return;
      case 'optional':
        this.sync(node, [node, ...context.rest], context, false);
        if (firstOf([node.part]).tokens.has(this.token.kind)) this.read(node.part, context);
        return;
      case 'many':
        this.repeat(node, context);
        return;
      case 'choice': {
        this.sync(node, [node, ...context.rest], context, false);
        const choice = this.decide(node.decide, node);
        this.read(node.parts[choice]!, context);
      }
    }
  }

  private repeat(node: Extract<GrammarNode, { is: 'many' }>, context: Context): void {
    const first = firstOf([node.part]).tokens;
    const again = node.atLeastOne ? laterTurnsOf(node) : node;
    const inLoop: Context = { ...context, rest: [again, ...context.rest] };
    this.sync(node, [node, ...context.rest], context, false);
    let isFirst = node.atLeastOne;
    while (isFirst || (first.has(this.token.kind) && this.goesOn(node.part, first))) {
      isFirst = false;
      this.read(node.part, inLoop);
      this.sync(node, [again, ...context.rest], inLoop, true);
    }
  }

  /** False for the comma at the end of a list or a map. */
  private goesOn(part: GrammarNode, first: ReadonlySet<TokenKind>): boolean {
    if (part.is === 'token' && first.has('-')) this.checkSign(part);
    if (!first.has(',') || part.is !== 'sequence') return true;
    const [, ...rest] = part.parts;
    const isOpenEnded = rest[0]?.is === 'rule' && rest[0].name === 'expr';
    return isOpenEnded || firstOf(rest).tokens.has(this.kindAt(1));
  }

  /** After a minus sign there must be another one, or something that has a sign. */
  private checkSign(node: GrammarNode): void {
    const next = this.kindAt(1);
    if (next !== '-' && !firstOf([grammar.member]).tokens.has(next)) throw this.noWay(node, 1);
  }

  private match(node: Extract<GrammarNode, { is: 'token' }>, context: Context): void {
    if (node.kinds.includes(this.token.kind)) {
      this.isRecovering = false;
      this.consume();
      return;
    }
    this.countRecovery();
    const expected = this.expectedAt([node, ...context.rest], context.outer);
    if (this.leaveOut(expected)) {
      this.consume();
      return;
    }
    if (this.expectedAt(context.rest, context.outer).has(this.token.kind)) {
      if (!this.isRecovering) {
        this.isRecovering = true;
        this.report(this.token.start, `missing ${formatTokens(expected)} at ${this.display(this.token)}`);
      }
      return;
    }
    throw this.mismatch(node, expected);
  }

  private mismatch(state: GrammarNode, expected: ReadonlySet<TokenKind>): Unexpected {
    const { token } = this;
    const report = (): void =>
      this.report(token.start, `mismatched input ${this.display(token)} expecting ${formatTokens(expected)}`);
    return new Unexpected(report, state);
  }

  /** Skips one token if the next one fits. */
  private leaveOut(expected: ReadonlySet<TokenKind>): boolean {
    if (!expected.has(this.kindAt(1)) || this.token.kind === 'EOF') {
      if (!(this.token.kind === 'EOF' && expected.has('EOF'))) return false;
    }
    this.reportUnwanted(expected);
    this.consume();
    this.isRecovering = false;
    return true;
  }
  private reportUnwanted(expected: ReadonlySet<TokenKind>): void {
    if (this.isRecovering) return;
    this.isRecovering = true;
    this.report(this.token.start, `extraneous input ${this.display(this.token)} expecting ${formatTokens(expected)}`);
  }

  /** Makes sure that what follows can go on with the next token, before a choice and after each turn of a loop. */
  private sync(state: GrammarNode, nodes: readonly GrammarNode[], context: Context, isAfterTurn: boolean): void {
    if (this.isRecovering) return;
    const next: First = firstOf(nodes);
    if (next.mayBeEmpty || next.tokens.has(this.token.kind)) return;
    const expected = this.expectedAt(nodes, context.outer);
    if (!isAfterTurn) {
      if (!this.leaveOut(expected)) throw this.mismatch(state, expected);
      return;
    }
    this.reportUnwanted(expected);
    this.skipTo(new Set([...expected, ...this.recoverySet(context.outer)]));
  }

  private expectedAt(nodes: readonly GrammarNode[], outer: Context | undefined): ReadonlySet<TokenKind> {
    const first = firstOf(nodes);
    const tokens = new Set(first.tokens);
    let isOpen = first.mayBeEmpty;
    for (let at = outer; at && isOpen; at = at.outer) {
      const following = firstOf(at.rest);
      for (const kind of following.tokens) tokens.add(kind);
      isOpen = following.mayBeEmpty;
    }
    if (isOpen) tokens.add('EOF');
    return tokens;
  }

  private recoverySet(outer: Context | undefined): ReadonlySet<TokenKind> {
    const tokens = new Set<TokenKind>();
    for (let at = outer; at; at = at.outer) for (const kind of firstOf(at.rest).tokens) tokens.add(kind);
    return tokens;
  }

  private recover(state: GrammarNode, outer: Context | undefined): void {
    this.countRecovery();
    if (this.lastErrorAt === this.at && this.lastErrorStates.has(state)) this.consume();
    this.lastErrorAt = this.at;
    this.lastErrorStates.add(state);
    this.skipTo(this.recoverySet(outer));
  }

  private countRecovery(): void {
    if (this.recoveries++ < recoveriesMax) return;
    this.report(this.token.start, `error recovery attempt limit exceeded: ${recoveriesMax}`);
    throw new GivenUp();
  }

  private skipTo(tokens: ReadonlySet<TokenKind>): void {
    for (let skipped = 0; this.token.kind !== 'EOF' && !tokens.has(this.token.kind); skipped++) {
      if (skipped >= skippedMax) {
        this.source.report(-1, `error recovery token lookahead limit exceeded: ${skippedMax}`);
        throw new GivenUp();
      }
      this.consume();
    }
  }

  private decide(decision: Decision, node: GrammarNode): number {
    const { kind } = this.token;
    const next = this.kindAt(1);
    switch (decision) {
      case 'unary':
        if (kind === '!') return 1;
        if (kind !== '-') return this.checked(node, 0);
        if (next === 'NUM_INT' || next === 'NUM_FLOAT') return 0;
        if (next !== '-' && !firstOf([grammar.member]).tokens.has(next)) throw this.noWay(node, 1);
        return 2;
      case 'suffix':
        if (kind === '[') return 2;
        if (next === 'IDENTIFIER') return this.kindAt(2) === '(' ? 1 : 0;
        if (next !== '?' && next !== 'ESC_IDENTIFIER') throw this.noWay(node, 1);
        return 0;
      case 'primary':
        return this.decidePrimary(node);
      case 'literal':
        if (kind === '-' && next !== 'NUM_INT' && next !== 'NUM_FLOAT') throw this.noWay(node, 1);
        return this.checked(node, kind === '-' && next === 'NUM_FLOAT' ? 2 : undefined);
      case 'identifier':
        return this.checked(node, undefined);
    }
  }

  private decidePrimary(node: GrammarNode): number {
    const { kind } = this.token;
    const nameAt = kind === '.' ? 1 : 0;
    if (kind === '.' && this.kindAt(1) !== 'IDENTIFIER') throw this.noWay(node, 1);
    if (kind !== '.' && kind !== 'IDENTIFIER') {
      const index = ['(', '[', '{'].indexOf(kind);
      return index >= 0 ? index + 2 : this.checked(node, 6);
    }
    let ahead = nameAt + 1;
    if (this.kindAt(ahead) === '(') return 1;
    while (this.kindAt(ahead) === '.' && this.kindAt(ahead + 1) === 'IDENTIFIER') ahead += 2;
    return this.kindAt(ahead) === '{' ? 5 : 0;
  }

  /** The alternative, if the next token may begin one at all; the first such without `preferred`. */
  private checked(node: GrammarNode, preferred: number | undefined): number {
    const parts = node.is === 'choice' ? node.parts : [];
    const fitting = parts.findIndex((part) => firstOf([part]).tokens.has(this.token.kind));
    if (fitting < 0) throw this.noWay(node, 0);
    return preferred ?? fitting;
  }

  private noWay(state: GrammarNode, ahead: number): Unexpected {
    const { token } = this;
    const offending = this.tokens[Math.min(this.at + ahead, this.tokens.length - 1)]!;
    const report = (): void => {
      const text = token.kind === 'EOF' ? '<EOF>' : this.textOf(token.start, offending.end);
      const message = `no viable alternative at input '${escaped(text)}'`;
      const word = /^no viable alternative at input '.(true|false|null)'$/.exec(message)?.[1];
      this.report(offending.start, word ? `mismatched input '${word}' expecting IDENTIFIER` : message);
    };
    return new Unexpected(report, state);
  }

  /** The text between two places, without what is no token. */
  private textOf(start: number, end: number): string {
    let text = '';
    let at = start;
    for (const error of this.lexicalErrors) {
      if (error.start < start || error.start >= end) continue;
      text += this.source.text.slice(at, error.start);
      at = error.end;
    }
    return text + this.source.text.slice(at, end);
  }

  private display(token: Token): string {
    return token.kind === 'EOF' ? "'<EOF>'" : `'${escaped(this.source.text.slice(token.start, token.end))}'`;
  }
}

const laterTurns = new WeakMap<GrammarNode, GrammarNode>();
function laterTurnsOf(node: Extract<GrammarNode, { is: 'many' }>): GrammarNode {
  let again = laterTurns.get(node);
  if (!again) laterTurns.set(node, (again = { ...node, atLeastOne: false }));
  return again;
}

const escaped = (text: string): string => text.replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t');

import type { Source } from '../source.js';
import type { Expr } from './ast.js';
import type { Token, TokenKind } from './lexer.js';

/** Ends parsing: something in the text is no expression. The errors are found in a second, slower pass. */
export class NotAnExpression extends Error {}

/** The tokens of a text and a place among them; the places of the expressions that are made of them, by their ids. */
export class TokenCursor {
  readonly offsets: number[] = [0];
  protected at = 0;

  constructor(
    protected readonly source: Source,
    private readonly tokens: readonly Token[],
  ) {}

  protected get token(): Token {
    return this.tokens[this.at]!;
  }
  protected kindAt(ahead: number): TokenKind | undefined {
    return this.tokens[this.at + ahead]?.kind;
  }
  protected take(kind: TokenKind): Token {
    const token = this.token;
    if (token.kind !== kind) throw new NotAnExpression();
    this.at++;
    return token;
  }
  protected takeIf(kind: TokenKind): Token | undefined {
    return this.token.kind === kind ? this.tokens[this.at++] : undefined;
  }
  protected text(token: Token): string {
    return this.source.text.slice(token.start, token.end);
  }
  protected id(offset: number): number {
    return this.offsets.push(offset) - 1;
  }
  protected error(offset: number, message: string): Expr {
    this.source.report(offset, message);
    return { kind: 'error', id: this.id(offset) };
  }
  protected next(): Token {
    return this.tokens[this.at++]!;
  }
}

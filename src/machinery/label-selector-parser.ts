import { ApiError } from './api-error.js';
import { goQuote } from './field-error.js';
import { parseInt64 } from './int64-text.js';
import { listed } from './listed.js';
import { validateLabelValue, validateQualifiedName } from './names.js';
import { everyLabel, LabelSelector, type LabelOperator, type LabelRequirement } from './label-selector.js';

type TokenKind = 'identifier' | 'end' | 'in' | 'notin' | '(' | ')' | ',' | '!' | '=' | '==' | '!=' | '>' | '<';

interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

const isSpecial = (character: string): boolean => '=!(),><'.includes(character);

const isSpace = (character: string): boolean => ' \t\r\n'.includes(character);

/**
 * Limit on the names, values and operators of a selector, so that reading one of 3 MiB does not delay other requests.
 * As many as a request body may have values.
 */
const tokensMax = 50_000;

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    if (tokens.length >= tokensMax) {
      throw fault(`the label selector has more than ${tokensMax} names, values and operators`);
    }
    const character = text[at]!;
    if (isSpace(character)) {
      at++;
    } else if (isSpecial(character)) {
      const pair = text.slice(at, at + 2);
      const symbol = pair === '==' || pair === '!=' ? pair : character;
      tokens.push({ kind: symbol as TokenKind, text: symbol });
      at += symbol.length;
    } else {
      const start = at;
      while (at < text.length && !isSpecial(text[at]!) && !isSpace(text[at]!)) at++;
      const word = text.slice(start, at);
      tokens.push({ kind: word === 'in' || word === 'notin' ? word : 'identifier', text: word });
    }
  }
  tokens.push({ kind: 'end', text: '' });
  return tokens;
}

export function parseLabelSelector(text: string): LabelSelector {
  return text === '' ? everyLabel : new LabelSelector(new Parser(tokensOf(text)).parse());
}

/** Returns the selector for a decision before the request is handled, which rejects an invalid one. */
export function labelSelectorIfValid(text: string): LabelSelector | undefined {
  try {
    return parseLabelSelector(text);
  } catch {
    return undefined;
  }
}

const binaryOperators = 'in, notin, =, ==, !=, gt, lt';

const operatorOfToken: Partial<Record<TokenKind, LabelOperator>> = {
  in: 'in',
  notin: 'notin',
  '=': '=',
  '==': '==',
  '!=': '!=',
  '>': 'gt',
  '<': 'lt',
};

class Parser {
  private position = 0;
  constructor(private readonly tokens: readonly Token[]) {}

  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    for (;;) {
      const next = this.peek();
      if (next.kind === 'end') break;
      if (next.kind !== 'identifier' && next.kind !== '!') {
        throw fault(`found '${next.text}', expected: !, identifier, or 'end of string'`);
      }
      requirements.push(this.requirement());
      const separator = this.take();
      if (separator.kind === 'end') break;
      if (separator.kind !== ',') throw fault(`found '${separator.text}', expected: ',' or 'end of string'`);
      const after = this.peek();
      if (after.kind !== 'identifier' && after.kind !== '!') {
        throw fault(`found '${after.text}', expected: identifier after ','`);
      }
    }
    return requirements.sort(byKey);
  }

  private requirement(): LabelRequirement {
    let token = this.take();
    const isAbsence = token.kind === '!';
    if (isAbsence) token = this.take();
    if (token.kind !== 'identifier') throw requirementFault(`found '${token.text}', expected: identifier`);
    const key = token.text;
    const keyProblems = validateQualifiedName(key);
    if (keyProblems.length > 0) {
      throw requirementFault(`<nil>: Invalid value: ${goQuote(key)}: ${keyProblems.join('; ')}`);
    }
    if (isAbsence) return { key, operator: '!', values: [] };
    const after = this.peek().kind;
    if (after === 'end' || after === ',') return { key, operator: 'exists', values: [] };
    const operator = this.operator();
    const values = operator === 'in' || operator === 'notin' ? this.valueList() : [this.singleValue()];
    const problems = requirementProblems({ key, operator, values });
    if (problems.length > 0) throw requirementFault(listed(problems));
    return { key, operator, values };
  }

  private operator(): LabelOperator {
    const token = this.tokens[this.position++]!;
    const operator = operatorOfToken[token.kind];
    if (operator === undefined) throw requirementFault(`found '${token.text}', expected: ${binaryOperators}`);
    return operator;
  }

  private singleValue(): string {
    const next = this.peek();
    if (next.kind === 'end' || next.kind === ',') return '';
    this.position++;
    if (next.kind !== 'identifier') throw requirementFault(`found '${next.text}', expected: identifier`);
    return next.text;
  }

  /** Parses `(a,b)`, with empty values for missing ones: `()`, `(,a)`, `(a,,b)`. */
  private valueList(): string[] {
    const open = this.take();
    if (open.kind !== '(') throw requirementFault(`found '${open.text}' expected: '('`);
    const values = new Set<string>();
    const first = this.peek();
    if (first.kind === ')') {
      this.position++;
      return [''];
    }
    if (first.kind !== 'identifier' && first.kind !== ',') {
      throw requirementFault(`found '${first.text}', expected: ',', ')' or identifier`);
    }
    for (;;) {
      const token = this.take();
      if (token.kind === 'identifier') {
        values.add(token.text);
        const next = this.peek();
        if (next.kind === ')') break;
        if (next.kind !== ',') throw requirementFault(`found '${next.text}', expected: ',' or ')'`);
      } else if (token.kind === ',') {
        if (values.size === 0) values.add('');
        const next = this.peek();
        if (next.kind === ')') {
          values.add('');
          break;
        }
        if (next.kind === ',') {
          this.position++;
          values.add('');
        }
      } else {
        throw requirementFault(`found '${token.text}', expected: ',', or identifier`);
      }
    }
    this.position++;
    return [...values].sort();
  }

  /** `in` and `notin` are operators only in operator position, identifiers elsewhere. */
  private peek(): Token {
    const token = this.tokens[Math.min(this.position, this.tokens.length - 1)]!;
    return token.kind === 'in' || token.kind === 'notin' ? { kind: 'identifier', text: token.text } : token;
  }
  private take(): Token {
    const token = this.peek();
    this.position++;
    return token;
  }
}

export const byKey = (a: LabelRequirement, b: LabelRequirement): number => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);

export const fault = (message: string): ApiError => ApiError.badRequest(message);

const requirementFault = (message: string): ApiError => fault(`unable to parse requirement: ${message}`);

/** Limits the listed problems, each of which quotes a pattern longer than the value. */
const problemsMax = 100;

export function requirementProblems({ key, operator, values }: LabelRequirement): string[] {
  const problems: string[] = [];
  values.forEach((value, index) => {
    if ((operator === 'gt' || operator === 'lt') && parseInt64(value) === undefined) {
      problems.push(
        `values[${index}]: Invalid value: ${goQuote(value)}: for 'Gt', 'Lt' operators, the value must be an integer`,
      );
    }
  });
  values.forEach((value, index) => {
    if (problems.length >= problemsMax) return;
    const valueProblems = validateLabelValue(value);
    if (valueProblems.length > 0) {
      problems.push(`values[${index}][${key}]: Invalid value: ${goQuote(value)}: ${valueProblems.join('; ')}`);
    }
  });
  return problems;
}

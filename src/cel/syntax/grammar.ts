import type { TokenKind } from './lexer.js';

/** The grammar of the language as data, for the messages about texts that are not of it. */
export type GrammarNode =
  | { readonly is: 'token'; readonly kinds: readonly TokenKind[] }
  | { readonly is: 'rule'; readonly name: RuleName }
  | { readonly is: 'sequence'; readonly parts: readonly GrammarNode[] }
  | { readonly is: 'optional'; readonly part: GrammarNode }
  | { readonly is: 'many'; readonly part: GrammarNode; readonly atLeastOne: boolean }
  | { readonly is: 'choice'; readonly decide: Decision; readonly parts: readonly GrammarNode[] };

/** Choices that need more than the next token. */
export type Decision = 'unary' | 'suffix' | 'primary' | 'literal' | 'identifier';

export type RuleName =
  | 'start'
  | 'expr'
  | 'or'
  | 'and'
  | 'relation'
  | 'calc'
  | 'unary'
  | 'member'
  | 'primary'
  | 'exprList'
  | 'listInit'
  | 'fieldInit'
  | 'field'
  | 'mapInit'
  | 'identifier'
  | 'optExpr'
  | 'literal';

const token = (...kinds: TokenKind[]): GrammarNode => ({ is: 'token', kinds });
const rule = (name: RuleName): GrammarNode => ({ is: 'rule', name });
const seq = (...parts: GrammarNode[]): GrammarNode => ({ is: 'sequence', parts });
const opt = (part: GrammarNode): GrammarNode => ({ is: 'optional', part });
const many = (part: GrammarNode): GrammarNode => ({ is: 'many', part, atLeastOne: false });
const some = (part: GrammarNode): GrammarNode => ({ is: 'many', part, atLeastOne: true });
const choice = (decide: Decision, ...parts: GrammarNode[]): GrammarNode => ({ is: 'choice', decide, parts });

const call = seq(token('('), opt(rule('exprList')), token(')'));
const separated = (part: GrammarNode): GrammarNode => seq(part, many(seq(token(','), part)));

export const grammar: Readonly<Record<RuleName, GrammarNode>> = {
  start: seq(rule('expr'), token('EOF')),
  expr: seq(rule('or'), opt(seq(token('?'), rule('or'), token(':'), rule('expr')))),
  or: seq(rule('and'), many(seq(token('||'), rule('and')))),
  and: seq(rule('relation'), many(seq(token('&&'), rule('relation')))),
  relation: seq(rule('calc'), many(seq(token('<', '<=', '>=', '>', '==', '!=', 'in'), rule('calc')))),
  calc: seq(rule('unary'), many(seq(token('*', '/', '%', '+', '-'), rule('unary')))),
  unary: choice('unary', rule('member'), seq(some(token('!')), rule('member')), seq(some(token('-')), rule('member'))),
  member: seq(
    rule('primary'),
    many(
      choice(
        'suffix',
        seq(token('.'), opt(token('?')), rule('identifier')),
        seq(token('.'), token('IDENTIFIER'), call),
        seq(token('['), opt(token('?')), rule('expr'), token(']')),
      ),
    ),
  ),
  primary: choice(
    'primary',
    seq(opt(token('.')), token('IDENTIFIER')),
    seq(opt(token('.')), token('IDENTIFIER'), call),
    seq(token('('), rule('expr'), token(')')),
    seq(token('['), opt(rule('listInit')), opt(token(',')), token(']')),
    seq(token('{'), opt(rule('mapInit')), opt(token(',')), token('}')),
    seq(
      opt(token('.')),
      token('IDENTIFIER'),
      many(seq(token('.'), token('IDENTIFIER'))),
      token('{'),
      opt(rule('fieldInit')),
      opt(token(',')),
      token('}'),
    ),
    rule('literal'),
  ),
  exprList: separated(rule('expr')),
  listInit: separated(rule('optExpr')),
  fieldInit: separated(seq(rule('field'), token(':'), rule('expr'))),
  field: seq(opt(token('?')), rule('identifier')),
  mapInit: separated(seq(rule('optExpr'), token(':'), rule('expr'))),
  identifier: choice('identifier', token('IDENTIFIER'), token('ESC_IDENTIFIER')),
  optExpr: seq(opt(token('?')), rule('expr')),
  literal: choice(
    'literal',
    seq(opt(token('-')), token('NUM_INT')),
    token('NUM_UINT'),
    seq(opt(token('-')), token('NUM_FLOAT')),
    token('STRING'),
    token('BYTES'),
    token('true'),
    token('false'),
    token('null'),
  ),
};

/** The order in which messages list tokens. */
const order: readonly TokenKind[] = [
  'EOF',
  '==',
  '!=',
  'in',
  '<',
  '<=',
  '>=',
  '>',
  '&&',
  '||',
  '[',
  ']',
  '{',
  '}',
  '(',
  ')',
  '.',
  ',',
  '-',
  '!',
  '?',
  ':',
  '+',
  '*',
  '/',
  '%',
  'true',
  'false',
  'null',
  'NUM_FLOAT',
  'NUM_INT',
  'NUM_UINT',
  'STRING',
  'BYTES',
  'IDENTIFIER',
  'ESC_IDENTIFIER',
];
const named = new Set<TokenKind>([
  'NUM_FLOAT',
  'NUM_INT',
  'NUM_UINT',
  'STRING',
  'BYTES',
  'IDENTIFIER',
  'ESC_IDENTIFIER',
]);

/** A set of tokens as messages show it: `')'`, `{'[', IDENTIFIER}`. */
export function formatTokens(tokens: ReadonlySet<TokenKind>): string {
  const shown = order
    .filter((kind) => tokens.has(kind))
    .map((kind) => (kind === 'EOF' ? '<EOF>' : named.has(kind) ? kind : `'${kind}'`));
  return shown.length === 1 ? shown[0]! : `{${shown.join(', ')}}`;
}

/** The tokens that may come first, and whether there may be none. */
export interface First {
  readonly tokens: ReadonlySet<TokenKind>;
  readonly mayBeEmpty: boolean;
}

const ruleFirsts = new Map<RuleName, First>();
function firstOfRule(name: RuleName): First {
  let first = ruleFirsts.get(name);
  if (!first) ruleFirsts.set(name, (first = firstOf([grammar[name]])));
  return first;
}

/** The tokens with which a sequence may begin. */
export function firstOf(nodes: readonly GrammarNode[]): First {
  if (nodes.length === 1) return firstOfNode(nodes[0]!);
  const tokens = new Set<TokenKind>();
  for (const node of nodes) {
    const first = firstOfNode(node);
    for (const kind of first.tokens) tokens.add(kind);
    if (!first.mayBeEmpty) return { tokens, mayBeEmpty: false };
  }
  return { tokens, mayBeEmpty: true };
}

const nodeFirsts = new WeakMap<GrammarNode, First>();
function firstOfNode(node: GrammarNode): First {
  let first = nodeFirsts.get(node);
  if (!first) nodeFirsts.set(node, (first = computeFirst(node)));
  return first;
}

function computeFirst(node: GrammarNode): First {
  switch (node.is) {
    case 'token':
      return { tokens: new Set(node.kinds), mayBeEmpty: false };
    case 'rule':
      return firstOfRule(node.name);
    case 'sequence':
      return firstOf(node.parts);
    case 'optional':
      return { tokens: firstOf([node.part]).tokens, mayBeEmpty: true };
    case 'many':
      return { tokens: firstOf([node.part]).tokens, mayBeEmpty: !node.atLeastOne };
    case 'choice':
      return {
        tokens: new Set(node.parts.flatMap((part) => [...firstOf([part]).tokens])),
        mayBeEmpty: node.parts.some((part) => firstOf([part]).mayBeEmpty),
      };
  }
}

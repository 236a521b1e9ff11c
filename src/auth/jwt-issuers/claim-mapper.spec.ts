import { noMappings } from '../../../test/harness/jwt-mappings.js';
import { compileAuthenticationExpression } from '../../expressions/authentication-expression.js';
import type { JwtConfiguration } from '../configuration/jwt-configuration.js';
import { userOfClaims, type Claims } from './claim-mapper.js';
import { Rejection } from './rejection.js';

const expressionOf = (text: string, variable: 'claims' | 'user' = 'claims') => {
  const { expression, problem } = compileAuthenticationExpression(variable, text, false);
  if (!expression) throw new Error(problem);
  return expression;
};
const by = (text: string) => ({ expression: expressionOf(text) });
const rule = (text: string, variable: 'claims' | 'user' = 'claims') => ({
  expression: expressionOf(text, variable),
  message: 'because',
});

type Mappings = Parameters<typeof userOfClaims>[1];
const plain: Mappings = {
  username: { claim: 'sub', prefix: '' },
  ...noMappings,
};
const map = (claims: string | object, mappings: Partial<Mappings> = {}) =>
  userOfClaims(
    (typeof claims === 'string' ? JSON.parse(claims) : { sub: 'ali', ...claims }) as Claims,
    { ...plain, ...mappings },
    'authentication.kubernetes.io/credential-id',
  );
function rejectionOf(...given: Parameters<typeof map>): Rejection {
  try {
    map(...given);
  } catch (error) {
    if (error instanceof Rejection) return error;
    throw error;
  }
  throw new Error('the claims were accepted');
}

const groupsClaim = { groups: { claim: 'g', prefix: 'p:' } };
const extraOf = (key: string, text: string) => ({ extra: [{ key, expression: expressionOf(text) }] });

describe('the user of claims', () => {
  it.each<[string, object | string, Partial<Mappings>, object]>([
    ['has the prefix before the claim', {}, { username: { claim: 'sub', prefix: 'oidc:' } }, { name: 'oidc:ali' }],
    ['has the result of an expression as name', {}, { username: by('claims.sub + "@x"') }, { name: 'ali@x' }],
    ['has no groups without a mapping', { groups: ['a'] }, {}, { groups: [] }],
    ['has prefixed groups', { g: ['a', 'b'] }, groupsClaim, { groups: ['p:a', 'p:b'] }],
    ['has one group for a text', { g: 'a' }, groupsClaim, { groups: ['p:a'] }],
    ['has no groups for null', { g: null }, groupsClaim, { groups: [] }],
    ['has no groups if the claim is missing', {}, groupsClaim, { groups: [] }],
    ['has the groups of an expression', { g: 'a,b' }, { groups: by('claims.g.split(",")') }, { groups: ['a', 'b'] }],
    ['has no empty groups of an expression', { g: ['', 'a'] }, { groups: by('claims.g') }, { groups: ['a'] }],
    ['has no groups for an empty text', { g: '' }, { groups: by('claims.g') }, { groups: [] }],
    ['has no groups for a null of an expression', { g: null }, { groups: by('claims.g') }, { groups: [] }],
    ['has joined lists as groups', { g: ['a'] }, { groups: by('claims.g + ["b"]') }, { groups: ['a', 'b'] }],
    ['has the uid of a claim', { u: '7' }, { uid: { claim: 'u', prefix: '' } }, { uid: '7' }],
    ['has the uid of an expression', {}, { uid: by('"u-" + claims.sub') }, { uid: 'u-ali' }],
    ['has an empty uid of an expression', {}, { uid: by('""') }, { uid: '' }],
    ['has the texts of extra', { o: 'x' }, extraOf('e.com/o', 'claims.o'), { extra: { 'e.com/o': ['x'] } }],
    ['has the lists of extra', {}, extraOf('e.com/o', '["x", "y"]'), { extra: { 'e.com/o': ['x', 'y'] } }],
    ['has no empty extra', {}, extraOf('e.com/o', '[""]'), { extra: {} }],
    [
      'has the id of the token',
      { jti: '1' },
      {},
      { extra: { 'authentication.kubernetes.io/credential-id': ['JTI=1'] } },
    ],
    ['has no id that is no text', { jti: 1 }, {}, { extra: {} }],
    [
      'reads numbers as doubles',
      { n: 5 },
      { username: by('type(claims.n) == double ? "yes" : "no"') },
      { name: 'yes' },
    ],
    [
      'compares numbers with ints',
      { n: 5 },
      { username: by('claims.n == 5 && claims.n > 4 ? "yes" : "no"') },
      { name: 'yes' },
    ],
    [
      'reads large integers',
      '{"sub":"a","n":9007199254740993}',
      { username: by('claims.n > 9e15 ? "yes" : "no"') },
      { name: 'yes' },
    ],
    [
      'reads names with dots by their escapes at every depth',
      { 'a.b': { 'c/d': [{ 'e-f': 'deep' }] } },
      { username: by('claims.a__dot__b.c__slash__d[0].e__dash__f') },
      { name: 'deep' },
    ],
    ['reads names with dots as keys', { 'a.b': 'x' }, { username: by('claims["a.b"]') }, { name: 'x' }],
    ['indexes lists with claims', { i: 1, l: ['a', 'b'] }, { username: by('claims.l[claims.i]') }, { name: 'b' }],
    [
      'compares claims of different types',
      { l: ['a'] },
      { username: by('claims.l == "a" ? "yes" : "no"') },
      { name: 'no' },
    ],
    ['can have optional claims', {}, { username: by('claims.?name.orValue(claims.sub)') }, { name: 'ali' }],
    ['has no prototype as claims', {}, { username: by('has(claims.constructor) ? "yes" : "no"') }, { name: 'no' }],
    [
      'passes rules',
      { hd: 'x' },
      { claimRules: [rule('claims.hd == "x"')], userRules: [rule('user.username == "ali"', 'user')] },
      { name: 'ali' },
    ],
    [
      'is seen by rules without system:authenticated',
      {},
      { userRules: [rule('user.groups.size() == 0 && user.uid == "" && has(user.extra)', 'user')] },
      { name: 'ali' },
    ],
    [
      'has extra by escaped keys in rules',
      { o: 'x' },
      {
        ...extraOf('e.com/o', 'claims.o'),
        userRules: [rule('user.extra.e__dot__com__slash__o == ["x"] && user.extra["e.com/o"][0] == "x"', 'user')],
      },
      { name: 'ali' },
    ],
    ['has the required claim', { hd: 'x' }, { requiredClaims: [{ claim: 'hd', value: 'x' }] }, { name: 'ali' }],
    [
      'has a verified email',
      { email: 'a@b', email_verified: true },
      { username: { claim: 'email', prefix: '' } },
      { name: 'a@b' },
    ],
    [
      'has an email of an issuer that does not say whether it is verified',
      { email: 'a@b' },
      { username: { claim: 'email', prefix: '' } },
      { name: 'a@b' },
    ],
    [
      'has groups although another claim is distributed',
      { _claim_names: { other: 's' }, _claim_sources: { s: {} } },
      groupsClaim,
      { groups: [] },
    ],
  ])('%s', (_title, claims, mappings, want) => expect(map(claims, mappings)).toMatchObject(want));

  it.each<[string, object | string, Partial<Mappings>, RegExp, Rejection['kind']]>([
    ['a missing user name', '{}', {}, /claim "sub" is missing/, 'claims'],
    ['a number as user name', { sub: 5 }, {}, /claim "sub" is not a string/, 'claims'],
    ['null as user name', { sub: null }, {}, /username claim "sub" is empty/, 'mapping'],
    [
      'an empty user name',
      { sub: '' },
      { username: { claim: 'sub', prefix: 'x:' } },
      /username claim "sub" is empty/,
      'mapping',
    ],
    ['a claim of the prototype', {}, { username: { claim: 'constructor', prefix: '' } }, /is missing/, 'claims'],
    ['__proto__ as claim', {}, { username: { claim: '__proto__', prefix: '' } }, /is missing/, 'claims'],
    [
      'an unverified email',
      { email: 'a@b', email_verified: false },
      { username: { claim: 'email', prefix: '' } },
      /not verified/,
      'mapping',
    ],
    [
      'a text as email_verified',
      { email: 'a@b', email_verified: 'true' },
      { username: { claim: 'email', prefix: '' } },
      /not verified/,
      'mapping',
    ],
    [
      'an expression with another type as name',
      { n: 1 },
      { username: by('claims.n') },
      /must return a string/,
      'mapping',
    ],
    ['an empty name of an expression', {}, { username: by('""') }, /returned an empty string/, 'mapping'],
    [
      'a missing claim of an expression',
      {},
      { username: by('claims.none') },
      /'claims.none' resulted in an error/,
      'mapping',
    ],
    ['a list of numbers as groups', { g: [1] }, groupsClaim, /groups claim "g" must be/, 'mapping'],
    ['an object as groups', { g: {} }, groupsClaim, /groups claim "g" must be/, 'mapping'],
    [
      'a map of an expression as groups',
      { g: {} },
      { groups: by('claims.g') },
      /groups expression must return/,
      'mapping',
    ],
    [
      'numbers of an expression as groups',
      { g: [1] },
      { groups: by('claims.g') },
      /groups expression must return/,
      'mapping',
    ],
    [
      'distributed groups',
      { _claim_names: { g: 's' }, _claim_sources: { s: { endpoint: 'https://e' } } },
      groupsClaim,
      /distributed claim/,
      'distributed claims',
    ],
    ['a text as names of distributed claims', { _claim_names: 'g' }, {}, /names no source/, 'distributed claims'],
    ['distributed claims without sources', { _claim_names: { g: 's' } }, {}, /names no source/, 'distributed claims'],
    [
      'a source from the prototype',
      { _claim_names: { g: 'constructor' }, _claim_sources: {} },
      {},
      /names no source/,
      'distributed claims',
    ],
    ['a number as uid', { u: 1 }, { uid: { claim: 'u', prefix: '' } }, /claim "u" is not a string/, 'claims'],
    ['a number of an expression as uid', {}, { uid: by('1') }, /uid claim expression must return/, 'mapping'],
    ['a number in extra', {}, extraOf('e.com/o', '[1]'), /extra e.com\/o expression must return/, 'mapping'],
    [
      'another value of a required claim',
      { hd: 'y' },
      { requiredClaims: [{ claim: 'hd', value: 'x' }] },
      /required claim hd/,
      'rule',
    ],
    [
      'a missing required claim',
      {},
      { requiredClaims: [{ claim: 'hd', value: 'x' }] },
      /claim "hd" is missing/,
      'claims',
    ],
    ['a failed rule', {}, { claimRules: [rule('claims.sub == "x"')] }, /failed: because/, 'rule'],
    ['a rule with an error', {}, { claimRules: [rule('claims.none == "x"')] }, /resulted in an error/, 'mapping'],
    [
      'a failed rule over the user',
      {},
      { userRules: [rule("!user.username.startsWith('a')", 'user')] },
      /failed: because/,
      'rule',
    ],
  ])('%s is rejected', (_title, claims, mappings, reason, kind) => {
    const rejection = rejectionOf(claims, mappings);
    expect(rejection.reason).toMatch(reason);
    expect(rejection.kind).toBe(kind);
  });

  it('reasons contain no values of claims', () => {
    const mappings: Partial<JwtConfiguration>[] = [
      { requiredClaims: [{ claim: 'hd', value: 'x' }] },
      { username: by('int(claims.hd) == 1 ? "a" : "b"') },
      { claimRules: [rule('claims.hd == "x"')] },
      { groups: { claim: 'list', prefix: '' } },
    ];
    for (const one of mappings)
      expect(rejectionOf({ hd: 'secret', list: [{ a: 'secret' }] }, one).reason).not.toContain('secret');
  });

  it('the cost of all expressions together is limited', () => {
    const list = Array.from({ length: 250 }, (_, index) => `${index}`);
    const costly = 'dyn(claims.l).all(a, dyn(claims.l).all(b, a != "none" && b != "none"))';
    // One costs about 440,000, so that the second one exceeds the limit.
    expect(map({ l: list }, { claimRules: [rule(costly)] }).name).toBe('ali');
    const twice = rejectionOf({ l: list }, { claimRules: [rule(costly), rule(`${costly} || false`)] });
    expect(twice.detail).toMatch(/cost limit exceeded/);
  });
});

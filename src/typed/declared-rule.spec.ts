import { parseRule, staged } from './declared-rule.js';

const plain = { argument: undefined, named: {}, value: undefined, inner: undefined };

it.each([
  ['optional', { ...plain, tag: 'optional' }],
  ['+k8s:minimum=-5', { ...plain, tag: 'minimum', value: '-5' }],
  ['format="k8s-long-name"', { ...plain, tag: 'format', value: 'k8s-long-name' }],
  ['eachKey=+k8s:format=x', { ...plain, tag: 'eachKey', inner: { ...plain, tag: 'format', value: 'x' } }],
  [
    'ifEnabled("Gate")=+k8s:optional',
    { ...plain, tag: 'ifEnabled', argument: 'Gate', inner: { ...plain, tag: 'optional' } },
  ],
  [
    'ifDisabled(Gate)=+k8s:forbidden',
    { ...plain, tag: 'ifDisabled', argument: 'Gate', inner: { ...plain, tag: 'forbidden' } },
  ],
  [
    'item(type: "A", status: "True")=+k8s:zeroOrOneOfMember',
    { ...plain, tag: 'item', named: { type: 'A', status: 'True' }, inner: { ...plain, tag: 'zeroOrOneOfMember' } },
  ],
  [
    'unionMember(union: "u", memberName: "M")',
    { ...plain, tag: 'unionMember', named: { union: 'u', memberName: 'M' } },
  ],
])('parses %s', (text, want) => expect(parseRule(text)).toEqual(want));

it.each([
  ['optional', 'stable', 'optional'],
  ['alpha(since: "1.36")=+k8s:maxItems=3', 'alpha', 'maxItems'],
  ['beta(since: "1.36")=+k8s:ifEnabled(X)=+k8s:maxItems=3', 'beta', 'ifEnabled'],
])('%s has stability %s', (text, stability, tag) =>
  expect(staged(parseRule(text))).toMatchObject({ stability, rule: { tag } }),
);

it.each(['', '=1', 'a b'])('refuses %j', (text) => expect(() => parseRule(text)).toThrow('is no rule'));

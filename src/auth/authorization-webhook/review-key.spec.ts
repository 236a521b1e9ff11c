import { attributesOf } from '../../../test/harness/webhook-authorizers.js';
import { parseFieldSelector } from '../../machinery/field-selector.js';
import { parseLabelSelector } from '../../machinery/label-selector-parser.js';
import type { UserInfo } from '../../machinery/user-info.js';
import type { AuthorizationAttributes } from '../authorizer.js';
import { reviewKey } from './review-key.js';

const keyFor = (attributes: Partial<AuthorizationAttributes>) => reviewKey(attributesOf(attributes), attributes);
const keyOf = (attributes: Partial<AuthorizationAttributes>) => keyFor(attributes).text;
const user = (more: Partial<UserInfo> = {}): UserInfo => ({ name: 'eve', uid: '', groups: [], extra: {}, ...more });
const many = (prefix: string) => Array.from({ length: 100 }, (_, n) => `${prefix}-group-${n}`);

it('reviews with the same attributes have the same key', () => {
  const one = { user: user({ groups: many('a'), extra: { a: ['1'], b: ['2'] } }) };
  const other = { user: user({ groups: many('a'), extra: { b: ['2'], a: ['1'] } }) };
  expect(keyOf(one)).toBe(keyOf(other));
  expect(keyOf(one)).toBe(keyOf(one));
});

it('reviews that differ in one attribute have different keys', () => {
  const rows: Partial<AuthorizationAttributes>[] = [
    {},
    { verb: 'list' },
    { verb: 'ge', namespace: 'tshop' },
    { group: 'apps' },
    { version: 'v2' },
    { resource: 'nodes' },
    { subresource: 'log' },
    { namespace: '' },
    { name: 'other' },
    { name: '', subresource: 'web' },
    { name: 'web3:abc' },
    { isResourceRequest: false, path: '/a' },
    { isResourceRequest: false, path: '/a', verb: 'post' },
    { isResourceRequest: false, path: 'get/a', verb: '' },
    { fieldSelector: parseFieldSelector('a=b') },
    { fieldSelector: parseFieldSelector('a!=b') },
    { labelSelector: parseLabelSelector('a=b') },
    { labelSelector: parseLabelSelector('a in (b,c)') },
    { labelSelector: parseLabelSelector('a=b'), fieldSelector: parseFieldSelector('a=b') },
    { user: user({ name: 'adam' }) },
    { user: user({ uid: '1' }) },
    { user: user({ groups: ['a'] }) },
    { user: user({ groups: ['a', 'b'] }) },
    { user: user({ groups: ['b', 'a'] }) },
    { user: user({ groups: ['a1:b'] }) },
    { user: user({ extra: { a: [] } }) },
    { user: user({ extra: { a: ['b'] } }) },
    { user: user({ extra: { a: [], b: [] } }) },
    { user: user({ groups: many('a') }) },
    { user: user({ groups: many('b') }) },
    { user: user({ groups: many('a'), uid: '1' }) },
  ];
  const keys = rows.map((row) => keyOf(row));
  expect(new Set(keys).size).toBe(rows.length);
});

it('an empty selector is no selector', () => {
  const selectors = { fieldSelector: parseFieldSelector(''), labelSelector: parseLabelSelector('') };
  expect(keyOf(selectors)).toBe(keyOf({}));
});

it.each<[string, Partial<AuthorizationAttributes>, boolean]>([
  ['with an ordinary name is cacheable', {}, true],
  ['with a name of 9,900 characters is cacheable', { name: 'x'.repeat(9_900) }, true],
  ['with a name of 10,000 characters is not', { name: 'x'.repeat(10_000) }, false],
  ['with a path of 9,900 characters is cacheable', { isResourceRequest: false, path: 'x'.repeat(9_900) }, true],
  ['with a path of 10,000 characters is not', { isResourceRequest: false, path: 'x'.repeat(10_000) }, false],
  [
    'with a selector of 10,000 characters is not',
    { fieldSelector: parseFieldSelector(`a=${'x'.repeat(10_000)}`) },
    false,
  ],
  ['of a user with 10,000 groups is cacheable', { user: user({ groups: Array<string>(10_000).fill('g') }) }, true],
])('a review %s', (_title, attributes, isCacheable) => {
  const key = keyFor(attributes);
  expect(key.isCacheable).toBe(isCacheable);
  if (isCacheable) expect(key.text.length).toBeLessThan(10_400);
});

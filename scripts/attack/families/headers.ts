import type { Family, Requests } from '../attack.js';
import { filling, get, many } from '../requests.js';

const part = (text: string) => Buffer.from(text).toString('base64url');
const headerBytes = 58_000;
const headers: readonly (readonly [about: string, headers: () => Record<string, string | string[]>])[] = [
  ['groups to impersonate', () => ({ 'impersonate-user': 'u', 'impersonate-group': many(1_500, (n) => `g${n}`) })],
  [
    'extra to impersonate',
    () => ({
      'impersonate-user': 'u',
      ...Object.fromEntries(many(1_500, (n) => [`impersonate-extra-k${n}`, 'v'] as const)),
    }),
  ],
  ['a long user to impersonate', () => ({ 'impersonate-user': 'u'.repeat(headerBytes) })],
  [
    'an account to impersonate',
    () => ({ 'impersonate-user': `system:serviceaccount:${'a:'.repeat(headerBytes / 2)}` }),
  ],
  [
    'escapes in extra to impersonate',
    () => ({ 'impersonate-user': 'u', [`impersonate-extra-${'%41'.repeat(18_000)}`]: 'v' }),
  ],
  ['many headers', () => Object.fromEntries(many(1_900, (n) => `x-${n}`).map((name) => [name, 'v']))],
  ['one large header', () => ({ 'x-large': 'x'.repeat(headerBytes) })],
  ['media types', () => ({ accept: filling((n) => `a/b${n};q=0.${n % 10}`, { bytes: headerBytes }) })],
  ['parameters of media types', () => ({ accept: `application/json${';a=b'.repeat(14_000)}` })],
  ['quotes in media types', () => ({ accept: `application/json;a="${'\\"'.repeat(28_000)}` })],
  ['encodings to accept', () => ({ 'accept-encoding': filling((n) => `e${n};q=0.5`, { bytes: headerBytes }) })],
  ['spaces', () => ({ accept: `a${' '.repeat(headerBytes)};q` })],
  ['a long token', () => ({ authorization: `Bearer ${'t'.repeat(headerBytes)}` })],
  ['a token of dots', () => ({ authorization: `Bearer ${'.'.repeat(headerBytes)}` })],
  [
    'a token with large claims',
    () => ({
      authorization: `Bearer ${part('{"alg":"RS256"}')}.${part(filling((n) => `"c${n}":1`, { head: '{"iss":"https://kubernetes.default.svc",', tail: '}', bytes: 40_000 }))}.AAAA`,
    }),
  ],
  ['spaces before a token', () => ({ authorization: `Bearer${' '.repeat(headerBytes)}t` })],
  ['cookies', () => ({ cookie: 'a=b;'.repeat(headerBytes / 4) })],
  ['forwarded addresses', () => ({ 'x-forwarded-for': '10.0.0.1,'.repeat(6_000) })],
  ['a trace', () => ({ traceparent: `00-${'a'.repeat(headerBytes)}-01`, 'audit-id': 'x'.repeat(500) })],
  ['an origin', () => ({ origin: `https://${'a.'.repeat(headerBytes / 2)}` })],
  ['a user agent', () => ({ 'user-agent': '/'.repeat(headerBytes) })],
];

/** Request headers up to the limits and beyond. */
export const headersFamily: Family = {
  name: 'headers',
  *requests({ isShort }): Requests {
    for (const [index, [about, make]] of headers.entries()) {
      if (isShort && index % 3 !== 0) continue;
      yield get(`headers: ${about}`, '/api/v1/namespaces/default/pods', { headers: make() });
    }
  },
};

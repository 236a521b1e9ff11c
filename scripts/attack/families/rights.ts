import type { Family, Requests } from '../attack.js';
import { filling, get, many, patch, post, put, remove } from '../requests.js';
import { namespace } from '../templates.js';

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const roles = `${rbac}/clusterroles`;
const bindings = `${rbac}/clusterrolebindings`;
const roleNamed = (name: string, rules: string, more = '') =>
  `{"metadata":{"name":"${name}"${more}},"rules":[${rules}]}`;
const texts = (count: number, letter: string) => `[${many(count, (n) => `"${letter}${n}"`).join()}]`;
const bytes = 2_900_000;

/** Rules that are costly to compare with the rules that a user holds. */
const rules: readonly (readonly [about: string, rules: () => string])[] = [
  ['many rules', () => filling((n) => `{"verbs":["get"],"apiGroups":[""],"resources":["r${n}"]}`, { bytes })],
  ['equal rules', () => filling(() => '{"verbs":["get"],"apiGroups":[""],"resources":["r"]}', { bytes })],
  [
    'many verbs in one rule',
    () => `{"apiGroups":[""],"resources":["r"],"verbs":[${filling((n) => `"v${n}"`, { bytes })}]}`,
  ],
  [
    'many names in one rule',
    () =>
      `{"apiGroups":[""],"resources":["r"],"verbs":["get"],"resourceNames":[${filling((n) => `"n${n}"`, { bytes })}]}`,
  ],
  [
    'a product of verbs, groups, resources and names',
    () =>
      `{"verbs":${texts(60, 'v')},"apiGroups":${texts(60, 'g')},"resources":${texts(60, 'r')},"resourceNames":${texts(60, 'n')}}`,
  ],
  [
    'a larger product',
    () =>
      `{"verbs":${texts(2_000, 'v')},"apiGroups":${texts(2_000, 'g')},"resources":${texts(2_000, 'r')},"resourceNames":${texts(2_000, 'n')}}`,
  ],
  [
    'many products',
    () =>
      many(
        2_000,
        (n) => `{"verbs":${texts(12, 'v')},"apiGroups":${texts(12, `g${n}x`)},"resources":${texts(12, 'r')}}`,
      ).join(),
  ],
  ['many URLs', () => filling((n) => `{"verbs":["get"],"nonResourceURLs":["/u${n}/*"]}`, { bytes })],
];

/** RBAC roles of all sizes: escalation checks, aggregation, bindings, and authorization of later requests. */
export const rightsFamily: Family = {
  name: 'rights',
  *requests({ isShort }): Requests {
    for (const [about, make] of isShort ? rules.slice(0, 5) : rules) {
      const body = roleNamed('hostile', make());
      yield post(`role with ${about}, by one who holds all`, `${roles}?dryRun=All`, body, 'json', { as: 'user' });
      const created = yield post(`role with ${about}`, roles, body);
      if (created.code !== 201) continue;
      yield patch(
        `role with ${about}, labelled by one who does not hold it`,
        `${roles}/hostile?dryRun=All`,
        '{"metadata":{"labels":{"a":"b"}}}',
        'mergePatch',
        { as: 'poor' },
      );
      yield put(`role with ${about}, by one who holds little`, `${roles}/hostile?dryRun=All`, body, 'json', {
        as: 'poor',
      });
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'hostile' };
      const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'attack-poor' }];
      yield post(
        `role with ${about}, bound by one who holds little`,
        `${bindings}?dryRun=All`,
        { metadata: { name: 'x' }, roleRef, subjects },
        'json',
        { as: 'poor' },
      );
      yield post('hostile', bindings, { metadata: { name: 'hostile' }, roleRef, subjects });
      yield get(`role with ${about}, held by who asks`, `/api/v1/namespaces/${namespace}/secrets`, { as: 'poor' });
      yield post(
        `role with ${about}, its rules are asked for`,
        '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
        { spec: { namespace } },
        'json',
        { as: 'poor' },
      );
      yield put(`role with ${about}, by its holder`, `${roles}/hostile?dryRun=All`, body, 'json', { as: 'poor' });
      yield remove('hostile', `${bindings}/hostile`);
      yield remove(`role with ${about}`, `${roles}/hostile`);
    }
    yield* aggregated(isShort ? 3 : 20);
    for (const [about, selector] of selectors) {
      const all = filling(selector, { bytes: 44_000 });
      const body = `{"metadata":{"name":"selects"},"rules":[],"aggregationRule":{"clusterRoleSelectors":[${all}]}}`;
      yield post(`a role that gathers by ${about}`, roles, body);
      yield get('what was gathered', `${roles}/selects`);
      yield remove('a role that gathers by many selectors', `${roles}/selects`);
    }
    yield* boundOften(isShort ? 200 : 3_000);
  },
};

/** Selectors of an aggregationRule, as many as a small body holds. */
const selectors: readonly (readonly [about: string, selector: (n: number) => string])[] = [
  ['many empty selectors', () => '{}'],
  ['many selectors', (n) => `{"matchLabels":{"kubernetes.io/bootstrapping":"rbac-defaults","n":"${n}"}}`],
  ['many selectors that choose all', (n) => `{"matchExpressions":[{"key":"n${n}","operator":"DoesNotExist"}]}`],
];

/** Aggregates the rules of many roles into one. */
function* aggregated(count: number): Requests {
  const label = ',"labels":{"attack":"gathered"}';
  const part = (n: number) =>
    roleNamed(
      `part${n}`,
      filling((m) => `{"verbs":["get"],"apiGroups":["g${n}"],"resources":["r${m}"]}`, { bytes: 400_000 }),
      label,
    );
  yield post(
    'a role that gathers others',
    roles,
    `{"metadata":{"name":"gathers"},"rules":[],"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"attack":"gathered"}}]}}`,
  );
  for (let n = 0; n < count; n++) yield post(`the ${n + 1}. role to gather`, roles, part(n));
  yield get('what was gathered', `${roles}/gathers`);
  yield remove('a role that gathers others', `${roles}/gathers`);
  for (let n = 0; n < count; n++) yield remove('a role to gather', `${roles}/part${n}`);
}

/** Authorizes one user through many bindings with many subjects. */
function* boundOften(count: number): Requests {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' };
  const subjects = many(20, (n) => ({
    apiGroup: 'rbac.authorization.k8s.io',
    kind: 'Group',
    name: `g${n}`,
  }));
  const names = many(count, (n) => `often${n}`);
  yield names.map((name) => post('one of many bindings', bindings, { metadata: { name }, roleRef, subjects }));
  yield get('a read by who holds little, among many bindings', `/api/v1/namespaces/${namespace}/pods`, { as: 'poor' });
  yield post(
    'its rules, among many bindings',
    '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
    { spec: { namespace } },
    'json',
    { as: 'poor' },
  );
  yield remove('many bindings', `${bindings}?labelSelector=nothing`);
  yield names.map((name) => remove('one of many bindings', `${bindings}/${name}`));
}

import type { AttackPlan, Family, HostileAnswer, HostileRequest, Requests } from '../attack.js';
import { bytesBound, many, patch, post, put, remove } from '../requests.js';
import { namespace } from '../templates.js';
import { hostileAnswers, type Target } from './webhook-answers.js';
import { hostilePolicies, largeData } from './costly-policies.js';

const registration = '/apis/admissionregistration.k8s.io/v1';
const core = `/api/v1/namespaces/${namespace}`;
const collections: Readonly<Record<Target, string>> = { configmaps: `${core}/configmaps`, pods: `${core}/pods` };
/** Attempts until a configuration is in force. */
const attemptsMax = 500;

const rule = (resource: string, ...operations: string[]) => ({
  apiGroups: [''],
  apiVersions: ['v1'],
  operations,
  resources: [resource],
});
const labelled = (name: string) => ({ matchLabels: { attack: name } });
const podSpec = { containers: [{ name: 'c', image: 'i' }], automountServiceAccountToken: false };

/** An object that the webhook or policy with a name selects. */
const objectFor = (name: string, target: Target, fields: object = {}) => ({
  metadata: { name, labels: { attack: name } },
  ...(target === 'pods' ? { spec: podSpec } : { data: { a: 'b' } }),
  ...fields,
});

/** Requires one of the codes, and a Status in an answer that refuses. */
const codesOf =
  (codes: readonly number[]) =>
  ({ code, bytes }: HostileAnswer): string | undefined => {
    if (!codes.includes(code)) return `${code} instead of ${codes.join(' or ')}`;
    if (code < 400) return undefined;
    return bytes.includes('"kind":"Status"') && bytes.includes(`"code":${code}`) ? undefined : 'no Status';
  };
const absent = ({ code }: HostileAnswer) => (code === 404 ? undefined : 'a refused object was stored');
const get = (about: string, path: string): HostileRequest => ({ about, method: 'GET', path, problemOf: absent });

/** Sends a dry run until something refuses it. */
function* untilRefused(name: string): Requests {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const body = objectFor(name, 'configmaps');
    const { code } = yield post('admission: wait', `${collections.configmaps}?dryRun=All`, body);
    if (code >= 400) return;
  }
}

/** Webhooks whose answers and patches are hostile. */
function* webhooks({ webhook, isShort }: AttackPlan): Requests {
  const answers = hostileAnswers(isShort ? 0.3 : 1);
  const configuration = (name: string, target: Target) => ({
    name: `${name}.attack.example.com`,
    rules: [rule(target, 'CREATE', 'UPDATE')],
    objectSelector: labelled(name),
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  });
  const denies = webhook.on('last', (uid) => review(uid, { allowed: false, status: { message: 'no' } }));
  const list = [
    ...answers.map(({ name, target, reply }) => ({
      ...configuration(name, target),
      clientConfig: webhook.on(name, reply),
    })),
    { ...configuration('last', 'configmaps'), clientConfig: denies },
  ];
  const path = `${registration}/mutatingwebhookconfigurations`;
  yield post('admission: install webhooks', path, { metadata: { name: 'attack' }, webhooks: list });
  yield* untilRefused('last');
  for (const { name, target, about, codes, problemOf } of answers) {
    const object = objectFor(name, target);
    const judged = (answer: HostileAnswer) => codesOf(codes)(answer) ?? problemOf?.(answer);
    const isRefused = codes.every((code) => code >= 400);
    const created = post(`webhook answers ${about}`, `${collections[target]}${isRefused ? '' : '?dryRun=All'}`, object);
    yield { ...created, problemOf: judged };
    if (isRefused) yield get(`webhook answers ${about}: read`, `${collections[target]}/${name}`);
  }
  yield remove('admission: remove webhooks', `${path}/attack`);
}

const review = (uid: string, fields: object) =>
  JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', response: { uid, ...fields } });

/** Policies whose expressions are costly for large objects, or whose mutations are hostile. */
function* policies({ isShort }: AttackPlan): Requests {
  const made = hostilePolicies(isShort ? 0.3 : 1);
  const last = {
    name: 'last',
    kind: 'validating',
    spec: { validations: [{ expression: 'false' }] },
    codes: [422],
  } as const;
  for (const { name, kind, spec } of [...made, last]) {
    const matchConstraints = {
      resourceRules: [rule('configmaps', 'CREATE', 'UPDATE'), rule('pods', 'CREATE', 'UPDATE')],
      objectSelector: labelled(name),
    };
    const path = `${registration}/${kind}admissionpolicies`;
    yield post(`admission: install policy ${name}`, path, {
      metadata: { name: `attack-${name}` },
      spec: { matchConstraints, ...spec },
    });
    yield post(`admission: bind policy ${name}`, `${registration}/${kind}admissionpolicybindings`, {
      metadata: { name: `attack-${name}` },
      spec: { policyName: `attack-${name}`, ...(kind === 'validating' && { validationActions: ['Deny'] }) },
    });
  }
  yield* untilRefused('last');
  const data = largeData(bytesBound());
  for (const policy of made) {
    const { name, codes, target = 'configmaps', problemOf } = policy;
    const object = objectFor(name, target, target === 'configmaps' ? { data } : {});
    const created = post(`policy ${name}`, `${collections[target]}?dryRun=All`, object);
    yield { ...created, problemOf: (answer) => codesOf(codes)(answer) ?? problemOf?.(answer) };
  }
  yield* updates(data);
  for (const { name, kind } of [...made, last]) {
    yield remove(`admission: unbind policy ${name}`, `${registration}/${kind}admissionpolicybindings/attack-${name}`);
    yield remove(`admission: remove policy ${name}`, `${registration}/${kind}admissionpolicies/attack-${name}`);
  }
}

/** Changes of a large object, which policies see as object and oldObject. */
function* updates(data: Readonly<Record<string, string>>): Requests {
  const path = `${collections.configmaps}/updated`;
  yield post('admission: a large object', collections.configmaps, { metadata: { name: 'updated' }, data });
  const labels = { attack: 'compared' };
  yield { ...put('policy compared by PUT', path, { metadata: { name: 'updated', labels }, data }), mayFailWith: [] };
  yield patch('policy compared by a patch', path, { metadata: { labels: { ...labels, b: 'c' } } }, 'mergePatch');
  yield remove('admission: remove the large object', path);
}

/** Writes of users who may not configure admission. */
function* strangers(): Requests {
  const kinds = ['mutatingwebhook', 'validatingwebhook'].map((kind) => `${kind}configurations`);
  const policyKinds = ['mutating', 'validating'].flatMap((kind) => [
    `${kind}admissionpolicies`,
    `${kind}admissionpolicybindings`,
  ]);
  for (const resource of [...kinds, ...policyKinds]) {
    const path = `${registration}/${resource}`;
    for (const request of [
      post(`stranger: create ${resource}`, path, { metadata: { name: 'x' } }, 'json', { as: 'poor' }),
      post(
        `stranger: create large ${resource}`,
        path,
        { metadata: { name: 'x' }, webhooks: many(10_000, () => ({})) },
        'json',
        { as: 'poor' },
      ),
      remove(`stranger: delete ${resource}`, path, { as: 'poor' }),
    ]) {
      yield { ...request, problemOf: codesOf([403]) };
    }
  }
}

/** Writes with webhooks and policies in force: hostile answers, costly expressions and hostile mutations. */
export const admissionFamily: Family = {
  name: 'admission',
  *requests(plan): Requests {
    yield* webhooks(plan);
    yield* policies(plan);
    yield* strangers();
  },
};

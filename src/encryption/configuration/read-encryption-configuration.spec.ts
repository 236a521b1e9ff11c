import { FlagError } from '../../config/flag-error.js';
import { namingProfile } from '../../config/naming-profile.js';
import { readEncryptionConfiguration } from './read-encryption-configuration.js';

const naming = namingProfile('kubernetes');
const key32 = Buffer.alloc(32, 'k').toString('base64');
const key16 = Buffer.alloc(16, 's').toString('base64');

const read = (text: string) => readEncryptionConfiguration(text, { file: '/e.yaml', naming });
const text = (...resources: readonly unknown[]) =>
  JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration', resources });
const rule = (resources: readonly string[], ...providers: readonly unknown[]) => ({ resources, providers });
const identity = { identity: {} };
const keys = (...secrets: readonly string[]) => ({ keys: secrets.map((secret, i) => ({ name: `k${i}`, secret })) });

function problemsOf(config: string): readonly string[] {
  try {
    read(config);
  } catch (error) {
    if (error instanceof FlagError) return error.problems;
    throw error;
  }
  return [];
}

it('reads rules, providers and keys in their order', () => {
  const { rules } = read(
    text(
      rule(['secrets', 'widgets.example.com'], { aescbc: keys(key32, key16) }, { secretbox: keys(key32) }, identity),
      rule(['*.apps'], { aesgcm: keys(key16) }),
      rule(['*.*'], identity),
    ),
  );
  expect(rules.map(({ resources, providers }) => [resources, providers.map(({ type }) => type)])).toEqual([
    [
      ['secrets', 'widgets.example.com'],
      ['aescbc', 'secretbox', 'identity'],
    ],
    [['*.apps'], ['aesgcm']],
    [['*.*'], ['identity']],
  ]);
  expect(rules[0]!.providers[0]).toMatchObject({
    keys: [{ name: 'k0' }, { name: 'k1', secret: Buffer.alloc(16, 's') }],
  });
});

it.each<[string, string, readonly (string | RegExp)[]]>([
  ['an empty file', '', ['the file is empty']],
  ['no mapping', '[1]', [/cannot be read/]],
  ['a duplicate key', `kind: a\nkind: ${key32}`, [/^cannot be read: duplicated mapping key in line 2$/]],
  ['another kind', 'apiVersion: v1\nkind: Secret', ['kind: must be EncryptionConfiguration in apiserver.config.k8s.io/v1']], // prettier-ignore
  ['no resources', text(), ['resources: Required value: at least one resources is required']],
  ['an empty rule', text({}), [
    'resources[0].resources: Required value: at least one resources[0].resources is required',
    'resources[0].providers: Required value: at least one resources[0].providers is required',
  ]], // prettier-ignore
  ['unknown fields', text({ ...rule(['a'], { identity: { a: 1 }, rot13: {} }), more: 1 }), [
    'resources[0].more: unknown field; known are resources, providers',
    'resources[0].providers[0].rot13: unknown field; known are aesgcm, aescbc, secretbox, identity, kms',
    /^resources\[0\]\.providers\[0\]\.identity\.a: unknown field/,
  ]], // prettier-ignore
  ['no provider', text(rule(['a'], {})), ['resources[0].providers[0]: Invalid value: provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity']], // prettier-ignore
  ['two providers in one', text(rule(['a'], { ...identity, secretbox: keys(key32) })), [/^resources\[0\]\.providers\[0\]: Invalid value: more than one provider/]], // prettier-ignore
  ['no keys', text(rule(['a'], { aescbc: {} })), ['resources[0].providers[0].aescbc.keys: Required value: at least one keys is required']], // prettier-ignore
  ['a key without name and secret', text(rule(['a'], { aesgcm: { keys: [{}] } })), [
    'resources[0].providers[0].aesgcm.keys[0].name: Required value: name is a mandatory field for a key',
    'resources[0].providers[0].aesgcm.keys[0].secret: Required value: secret is a mandatory field for a key',
  ]], // prettier-ignore
  ['a secret that is not base64', text(rule(['a'], { secretbox: keys('?') })), ['resources[0].providers[0].secretbox.keys[0].secret: Invalid value: "REDACTED": secrets must be base64 encoded']], // prettier-ignore
  ['a secret of the wrong length', text(rule(['a'], { aescbc: keys('aGFsbG8=') })), ['resources[0].providers[0].aescbc.keys[0].secret: Invalid value: "REDACTED": secret is not of the expected length, got 5, expected one of [16 24 32]']], // prettier-ignore
  ['capital letters', text(rule(['configMaps'], identity)), ['resources[0].resources[0]: Invalid value: "configMaps": resource name should not contain capital letters']], // prettier-ignore
  ['*', text(rule(['*'], identity)), [/use '\*\.' to encrypt all the resources from core API group/]],
  ['a resource without API', text(rule(['serviceipallocations'], identity)), [/resources which do not have REST API\/s cannot be encrypted/]], // prettier-ignore
  ['events.k8s.io', text(rule(['events.events.k8s.io'], identity)), [/^resources\[0\]\.resources\[0\]: .*Use 'events' instead/]], // prettier-ignore
  ['extensions', text(rule(['*.extensions'], identity)), [/'extensions' group has been removed/]],
  ['a resource across groups', text(rule(['secrets.*'], identity)), [/encrypting the same resource across groups/]],
  ['a name twice', text(rule(['a', 'a'], identity)), [/^resources\[0\]\.resources: Invalid value: .*the same resource cannot be specified multiple times/]], // prettier-ignore
  ['an overlap', text(rule(['secrets', '*.'], identity)), [/using overlapping resources such as/]],
  ['an overlap with everything', text(rule(['*.apps', '*.*'], identity)), [/using overlapping resources such as/]],
  ['a name behind its group', text(rule(['*.apps'], identity), rule(['deployments.apps'], identity)), ['resource "deployments.apps" is masked by earlier rule "*.apps"']], // prettier-ignore
  ['a name behind everything', text(rule(['*.*'], identity), rule(['a'], identity)), ['resource "a" is masked by earlier rule "*.*"']], // prettier-ignore
  ['KMS v1', text(rule(['a'], { kms: { name: 'p', endpoint: 'unix:///s' } })), [/kms\.apiVersion: Invalid value: "v1": KMSv1 is deprecated/]], // prettier-ignore
  ['KMS v3', text(rule(['a'], { kms: { apiVersion: 'v3', name: 'p', endpoint: 'unix:///s' } })), [/only v1 and v2 are supported$/]], // prettier-ignore
  ['KMS without name and endpoint', text(rule(['a'], { kms: { apiVersion: 'v2' } })), [
    'resources[0].providers[0].kms.name: Required value: name is a mandatory field for a provider',
    'resources[0].providers[0].kms.endpoint: Invalid value: "": endpoint is a mandatory field for a kms',
  ]], // prettier-ignore
  ['wrong fields of KMS', text(rule(['a'], { kms: { apiVersion: 'v2', name: 'a:b', endpoint: 'tcp://h', timeout: '-1s', cachesize: 5 } })), [
    `resources[0].providers[0].kms.name: Invalid value: "a:b": invalid KMS provider name a:b, must not contain ':'`,
    'resources[0].providers[0].kms.timeout: Invalid value: "-1s": timeout should be a positive value',
    'resources[0].providers[0].kms.endpoint: Invalid value: "tcp://h": unsupported scheme "tcp" for KMS provider, only unix is supported',
    'resources[0].providers[0].kms.cachesize: Invalid value: 5: cachesize is not supported in v2',
  ]], // prettier-ignore
  ['two KMS providers of one name', text(rule(['a'], { kms: { apiVersion: 'v2', name: 'p', endpoint: 'unix:///s' } }), rule(['b'], { kms: { apiVersion: 'v2', name: 'p', endpoint: 'unix:///s' } })), [
    'resources[1].providers[0].kms.name: Invalid value: "p": duplicate KMS provider name p, names must be unique',
  ]], // prettier-ignore
  ['__proto__', '{"apiVersion": "apiserver.config.k8s.io/v1", "kind": "EncryptionConfiguration", "__proto__": {"resources": []}}', [/^__proto__: unknown field/, /^resources: Required value/]], // prettier-ignore
])('refuses %s', (_title, config, expected) => {
  const problems = problemsOf(config);
  expect(problems).toHaveLength(expected.length);
  for (const [index, want] of expected.entries()) expect(problems[index]).toMatch(want);
  for (const secret of [key16, key32]) expect(problems.join()).not.toContain(secret);
});

it('a later rule adds providers for a resource of its own name', () => {
  expect(problemsOf(text(rule(['secrets'], identity), rule(['secrets'], { secretbox: keys(key32) })))).toEqual([]);
  expect(problemsOf(text(rule(['secrets'], identity), rule(['*.'], identity), rule(['*.*'], identity)))).toEqual([]);
});

it.each([
  ['unix:///run/kms.sock', '/run/kms.sock', 3_000],
  ['unix:///@kms', '@kms', 3_000],
  ['unix:/run/kms.sock', '/run/kms.sock', 250],
])('the endpoint %s is the socket %s', (endpoint, socketPath, timeoutMs) => {
  const timeout = timeoutMs === 3_000 ? {} : { timeout: `${timeoutMs}ms` };
  const { rules } = read(text(rule(['a'], { kms: { apiVersion: 'v2', name: 'p', endpoint, ...timeout } })));
  expect(rules[0]!.providers).toEqual([{ type: 'kms', kms: { name: 'p', socketPath, timeoutMs } }]);
});

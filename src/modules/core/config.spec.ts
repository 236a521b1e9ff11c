import { namingProfile } from '../../config/naming-profile.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { prepared, refusals, updateRefusals } from '../../../test/harness/strategies.js';
import { configMapStrategy } from './config-map.strategy.js';
import { configMapTable } from './config-map.table.js';
import { secretStrategy } from './secret.strategy.js';
import { secretTable } from './secret.table.js';
import { serviceAccountStrategy } from './service-account.strategy.js';

const secrets = secretStrategy(namingProfile('kubernetes'));
const object = (kind: string, rest: object): KubeObject => ({
  kind,
  apiVersion: 'v1',
  metadata: { name: 'x' },
  ...rest,
});
const configMap = (rest: object) => object('ConfigMap', rest);
const secret = (rest: object) => object('Secret', rest);

const badKey =
  "Invalid value: \"a b\": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

it.each<[string, object, string[]]>([
  ['nothing', {}, []],
  ['an invalid key', { data: { 'a b': 'x' } }, [`data[a b]: ${badKey}`]],
  ['the key `..`', { data: { '..': 'x' } }, ['data[..]: Invalid value: "..": must not be \'..\'']],
  ['an invalid binary key', { binaryData: { 'a b': '' } }, [`binaryData[a b]: ${badKey}`]],
  [
    'a key in both',
    { data: { a: 'x' }, binaryData: { a: 'eA==' } },
    ['data[a]: Invalid value: "a": duplicate of key present in binaryData'],
  ],
  ['data that is too long', { data: { a: 'x'.repeat(1048577) } }, ['[]: Too long: may not be more than 1048576 bytes']],
  ['data of the maximum length', { data: { a: 'é'.repeat(524288) } }, []],
])('create of a ConfigMap with %s is validated', (_case, fields, want) =>
  expect(refusals(configMapStrategy, configMap(fields))).toEqual(want),
);

const frozen = { immutable: true, data: { a: 'b' }, binaryData: { c: 'eA==' } };
const immutable = (field: string) => `${field}: Forbidden: field is immutable when \`immutable\` is set`;

it.each<[string, object, object, string[]]>([
  ['can become immutable', { data: { a: 'b' } }, { ...frozen, binaryData: {} }, []],
  ['cannot change data', frozen, { ...frozen, data: { a: 'z' } }, [immutable('data')]],
  ['cannot lose binaryData', frozen, { ...frozen, binaryData: undefined }, [immutable('binaryData')]],
  ['cannot become mutable', frozen, { ...frozen, immutable: false }, [immutable('immutable')]],
])('an immutable ConfigMap %s', (_case, old, update, want) =>
  expect(updateRefusals(configMapStrategy, configMap(update), configMap(old))).toEqual(want),
);

const type = (name: string) => `kubernetes.io/${name}`;
it.each<[string, object, string[]]>([
  ['nothing', {}, []],
  [
    'data that is too long',
    { stringData: { a: 'x'.repeat(1048577) } },
    ['data: Too long: may not be more than 1048576 bytes'],
  ],
  ['no TLS keys', { type: type('tls') }, ['data[tls.crt]: Required value', 'data[tls.key]: Required value']],
  ['a username only', { type: type('basic-auth'), data: { username: 'eA==' } }, []],
  [
    'neither username nor password',
    { type: type('basic-auth') },
    ['data[username]: Required value', 'data[password]: Required value'],
  ],
  ['no SSH key', { type: type('ssh-auth') }, ['data[ssh-privatekey]: Required value']],
  ['no docker configuration', { type: type('dockerconfigjson') }, ['data[.dockerconfigjson]: Required value']],
  [
    'a docker configuration that is no JSON',
    { type: type('dockerconfigjson'), data: { '.dockerconfigjson': 'eA==' } },
    [
      'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character \'x\' looking for beginning of value',
    ],
  ],
  ['a docker configuration', { type: type('dockercfg'), data: { '.dockercfg': 'e30=' } }, []],
  [
    'no service account',
    { type: type('service-account-token') },
    ['metadata.annotations[kubernetes.io/service-account.name]: Required value'],
  ],
])('create of a Secret with %s is validated', (_case, fields, want) =>
  expect(refusals(secrets, secret(fields))).toEqual(want),
);

it('stringData of a Secret is moved to data', () => {
  const submitted = secret({ stringData: { user: 'admin' }, data: { pass: 'cGFzcw==', user: 'b2xk' } });
  const created = prepared(secrets, submitted);
  expect(created).toEqual(secret({ data: { pass: 'cGFzcw==', user: 'YWRtaW4=' }, type: 'Opaque' }));
  const named = prepared(secrets, secret({ stringData: Object.fromEntries([['__proto__', 'x']]) }));
  expect(Object.keys(named['data'] as object)).toEqual(['__proto__']);
  expect(Object.getPrototypeOf(named['data'])).toBe(Object.prototype);
});

it('the type of a Secret is immutable', () =>
  expect(updateRefusals(secrets, secret({ type: 'Opaque' }), secret({ type: 'example.com/own' }))).toEqual([
    'type: Invalid value: "Opaque": field is immutable',
  ]));

it('references of a ServiceAccount to Secrets keep only the name', () => {
  const submitted = object('ServiceAccount', { secrets: [{ name: 's', namespace: 'elsewhere', kind: 'Secret' }] });
  expect(prepared(serviceAccountStrategy, submitted)['secrets']).toEqual([{ name: 's' }]);
});

it('table rows of a ConfigMap and of a Secret', () => {
  const nowMs = Date.parse('2026-01-01T00:01:00Z');
  const old = { metadata: { name: 'x', creationTimestamp: '2026-01-01T00:00:00Z' } };
  expect(configMapTable.cells(configMap({ ...frozen, ...old }), { nowMs })).toEqual(['x', 2, '60s']);
  expect(secretTable.cells(secret({ type: 'Opaque', ...old }), { nowMs })).toEqual(['x', 'Opaque', 0, '60s']);
});

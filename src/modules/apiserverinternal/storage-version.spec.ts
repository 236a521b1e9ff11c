import type { KubeObject } from '../../machinery/kube-object.js';
import { prepared, testContext, texts } from '../../../test/harness/strategies.js';
import { storageVersionStatusSubresource, storageVersionStrategy } from './storage-version.strategy.js';

const object = (status: object): KubeObject => ({
  kind: 'StorageVersion',
  apiVersion: 'internal.apiserver.k8s.io/v1alpha1',
  metadata: { name: 'apps.deployments' },
  status,
});

it.each<[string, boolean]>([
  ['apps.deployments', true],
  ['rbac.authorization.k8s.io.roles', true],
  ['.pods', true],
  ['pods', false],
  ['apps.Deployments', false],
])('name %s is valid: %s', (name, good) => expect(storageVersionStrategy.validateName(name).length === 0).toBe(good));

it('create clears the status', () =>
  expect(prepared(storageVersionStrategy, object({ commonEncodingVersion: 'v1' }))).toEqual({
    ...object({}),
    spec: {},
  }));

const server = (rest: object = {}) => ({
  apiServerID: 'a',
  encodingVersion: 'apps/v1',
  decodableVersions: ['apps/v1', 'apps/v2'],
  ...rest,
});
it.each<[string, object, string[]]>([
  ['no fields', {}, []],
  ['one server', { storageVersions: [server()], commonEncodingVersion: 'apps/v1' }, []],
  [
    'two entries of one server',
    { storageVersions: [server(), server()], commonEncodingVersion: 'apps/v1' },
    ['Duplicate value: "a"'],
  ],
  [
    'no commonEncodingVersion for one server',
    { storageVersions: [server()] },
    ['commonEncodingVersion: Invalid value: null'],
  ],
  [
    'a commonEncodingVersion for differing servers',
    {
      storageVersions: [server(), server({ apiServerID: 'b', encodingVersion: 'apps/v2' })],
      commonEncodingVersion: 'apps/v1',
    },
    ['should be nil if servers do not agree'],
  ],
  [
    'an encodingVersion that is not decodable',
    { storageVersions: [server({ decodableVersions: ['apps/v2'] })], commonEncodingVersion: 'apps/v1' },
    ['decodableVersions must include encodingVersion apps/v1'],
  ],
  [
    'a servedVersion that is not decodable',
    { storageVersions: [server({ servedVersions: ['apps/v3'] })], commonEncodingVersion: 'apps/v1' },
    ['individual served version: apps/v3'],
  ],
  [
    'a condition without fields',
    { conditions: [{}] },
    ['conditions[0].type', 'conditions[0].status', 'conditions[0].reason'],
  ],
])('a status with %s', (_what, status, want) =>
  expect(texts(storageVersionStatusSubresource.validate!(object(status), object({}), testContext))).toEqual(
    want.map((text) => expect.stringContaining(text) as string),
  ),
);

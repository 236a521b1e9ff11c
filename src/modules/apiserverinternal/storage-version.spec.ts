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
])('%s', (name, good) => expect(storageVersionStrategy.validateName(name).length === 0).toBe(good));

it('begins without a status', () =>
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
  ['nothing', {}, []],
  ['one server', { storageVersions: [server()], commonEncodingVersion: 'apps/v1' }, []],
  [
    'one server twice',
    { storageVersions: [server(), server()], commonEncodingVersion: 'apps/v1' },
    ['Duplicate value: "a"'],
  ],
  ['no agreement told', { storageVersions: [server()] }, ['commonEncodingVersion: Invalid value: null']],
  [
    'a disagreement denied',
    {
      storageVersions: [server(), server({ apiServerID: 'b', encodingVersion: 'apps/v2' })],
      commonEncodingVersion: 'apps/v1',
    },
    ['should be nil if servers do not agree'],
  ],
  [
    'what it cannot read',
    { storageVersions: [server({ decodableVersions: ['apps/v2'] })], commonEncodingVersion: 'apps/v1' },
    ['decodableVersions must include encodingVersion apps/v1'],
  ],
  [
    'what it serves and cannot read',
    { storageVersions: [server({ servedVersions: ['apps/v3'] })], commonEncodingVersion: 'apps/v1' },
    ['individual served version: apps/v3'],
  ],
  ['an empty condition', { conditions: [{}] }, ['conditions[0].type', 'conditions[0].status', 'conditions[0].reason']],
])('a status with %s', (_what, status, want) =>
  expect(texts(storageVersionStatusSubresource.validate!(object(status), object({}), testContext))).toEqual(
    want.map((text) => expect.stringContaining(text) as string),
  ),
);

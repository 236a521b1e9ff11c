import type { KubeObject } from '../../machinery/kube-object.js';
import { refusals, testContext, texts, updateRefusals } from '../../../test/harness/strategies.js';
import { migrationStatusSubresource, migrationStrategy } from './storage-version-migration.strategy.js';

const migration = (resource: object, status: object = {}): KubeObject => ({
  kind: 'StorageVersionMigration',
  apiVersion: 'storagemigration.k8s.io/v1beta1',
  metadata: { name: 'm' },
  spec: { resource },
  status,
});
const deployments = { group: 'apps', resource: 'deployments' };
const condition = (type: string) => ({
  type,
  status: 'True',
  reason: 'R',
  lastTransitionTime: '2026-01-02T03:04:05Z',
});

it.each<[object, string[]]>([
  [deployments, []],
  [{ resource: 'pods' }, []],
  [{ group: 'apps' }, ['spec.resource.resource: Required value']],
])('the resource %j is validated', (resource, want) =>
  expect(refusals(migrationStrategy, migration(resource))).toEqual(want),
);

it('spec.resource is immutable', () =>
  expect(updateRefusals(migrationStrategy, migration({ resource: 'pods' }), migration(deployments))).toEqual([
    'spec.resource: Invalid value: {"resource":"pods"}: field is immutable',
  ]));

const running = { resourceVersion: '12', conditions: [condition('Running')] };
const done = { ...running, conditions: [condition('Succeeded')] };

it.each<[string, object, object, string[]]>([
  ['a running migration', running, {}, []],
  ['a succeeded migration', done, running, []],
  [
    'an invalid resourceVersion',
    { resourceVersion: 'x' },
    {},
    ['status.resourceVersion: Invalid value: "x": must be a valid resource version'],
  ],
  [
    'a changed resourceVersion',
    { ...running, resourceVersion: '13' },
    running,
    ['status.resourceVersion: Invalid value: "13": field is immutable'],
  ],
])('the status of %s is validated', (_name, status, before, want) =>
  expect(
    texts(
      migrationStatusSubresource.validate!(migration(deployments, status), migration(deployments, before), testContext),
    ),
  ).toEqual(want),
);

it('a terminal condition stays true, and there is only one', () => {
  const ends = (conditions: object[]) =>
    texts(
      migrationStatusSubresource.validate!(
        migration(deployments, { ...done, conditions }),
        migration(deployments, done),
        testContext,
      ),
    );
  expect(ends([condition('Running')])[0]).toContain('Succeeded condition cannot be set to false once it is true');
  expect(ends([condition('Succeeded'), condition('Failed')])[0]).toContain(
    'Both success and failed conditions cannot be true at the same time',
  );
});

import type { KubeObject } from '../../machinery/kube-object.js';
import { attributesClassesOf, isBound, usesClaim } from './decide.js';

const claim = (metadata: object = {}): KubeObject => ({
  kind: 'PersistentVolumeClaim',
  apiVersion: 'v1',
  metadata: { name: 'p-scratch', namespace: 'd', ...metadata },
});
const pod = (spec: object, metadata: object = {}, status: object = {}): KubeObject => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'p', namespace: 'd', uid: 'pod-uid', ...metadata },
  spec,
  status,
});
const named = { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'p-scratch' } }] };
const ephemeral = { volumes: [{ name: 'scratch', ephemeral: {} }] };
const ownedBy = (uid: string) =>
  claim({ ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid, controller: true }] });
const shutDown = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 };

it.each<[string, KubeObject, KubeObject, boolean]>([
  ['on a node', pod({ nodeName: 'n', ...named }), claim(), true],
  ['that is not scheduled', pod(named), claim(), false],
  ['that has ended', pod({ nodeName: 'n', ...named }, {}, { phase: 'Succeeded' }), claim(), true],
  ['that is being deleted', pod({ nodeName: 'n', ...named }, shutDown), claim(), true],
  ['with other claims', pod({ nodeName: 'n', volumes: [{ name: 'v', emptyDir: {} }] }), claim(), false],
  ['without volumes', pod({ nodeName: 'n' }), claim(), false],
  ['with the claim of its ephemeral volume', pod({ nodeName: 'n', ...ephemeral }), ownedBy('pod-uid'), true],
  ['with an ephemeral volume of that name, of another Pod', pod({ nodeName: 'n', ...ephemeral }), ownedBy('x'), false],
  [
    'with an ephemeral volume, terminated by the kubelet,',
    pod({ nodeName: 'n', ...ephemeral }, shutDown),
    ownedBy('pod-uid'),
    false,
  ],
])('a Pod %s uses the claim: %#', (_what, given, of, want) => expect(usesClaim(given, of)).toBe(want));

it.each([
  ['Bound', true],
  ['Available', false],
  ['Released', false],
  [undefined, false],
])('a PersistentVolume in phase %s is bound: %s', (phase, want) =>
  expect(isBound({ kind: 'PersistentVolume', apiVersion: 'v1', metadata: { name: 'v' }, status: { phase } })).toBe(
    want,
  ),
);

it('a claim uses its wanted, current and target VolumeAttributesClass', () =>
  expect(
    attributesClassesOf({
      ...claim(),
      spec: { volumeAttributesClassName: 'a' },
      status: {
        currentVolumeAttributesClassName: 'b',
        modifyVolumeStatus: { targetVolumeAttributesClassName: 'c', status: 'Pending' },
      },
    }),
  ).toEqual(['a', 'b', 'c']));

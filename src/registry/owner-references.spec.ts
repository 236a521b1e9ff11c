import type { KubeObject, OwnerReference } from '../machinery/kube-object.js';
import { dropDuplicateOwners } from './owner-references.js';

const owner = (uid: string, more: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: 'v1',
  kind: 'Pod',
  name: 'p',
  uid,
  ...more,
});
const objectOf = (ownerReferences: OwnerReference[]): KubeObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: 'a', ownerReferences },
});

it.each<[string, OwnerReference[], OwnerReference[], string[]]>([
  ['one', [owner('u')], [owner('u')], []],
  ['different ones', [owner('u'), owner('v')], [owner('u'), owner('v')], []],
  ['one again', [owner('u'), owner('v'), owner('u'), owner('u')], [owner('u'), owner('v')], ['u']],
  ['two again', [owner('u'), owner('v'), owner('v'), owner('u')], [owner('u'), owner('v')], ['v, u']],
  [
    'one in two words',
    [owner('u'), owner('u', { controller: true })],
    [owner('u'), owner('u', { controller: true })],
    [],
  ],
])('owners: %s', (_what, given, want, told) => {
  const object = objectOf(given);
  const warnings: string[] = [];
  dropDuplicateOwners(object, warnings);
  dropDuplicateOwners(objectOf(given), warnings);
  expect(object.metadata.ownerReferences).toEqual(want);
  expect(warnings.map((warning) => warning.split('UID(s): ')[1])).toEqual(told);
});

import type { KubeObject, OwnerReference } from '../../machinery/kube-object.js';
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
  ['a single owner is kept', [owner('u')], [owner('u')], []],
  ['different owners are kept', [owner('u'), owner('v')], [owner('u'), owner('v')], []],
  [
    'an owner that is listed three times is kept once',
    [owner('u'), owner('v'), owner('u'), owner('u')],
    [owner('u'), owner('v')],
    ['u'],
  ],
  [
    'two duplicate owners are each kept once',
    [owner('u'), owner('v'), owner('v'), owner('u')],
    [owner('u'), owner('v')],
    ['v, u'],
  ],
  [
    'entries with one uid that differ otherwise are kept',
    [owner('u'), owner('u', { controller: true })],
    [owner('u'), owner('u', { controller: true })],
    [],
  ],
])('ownerReferences: %s', (_what, given, want, told) => {
  const object = objectOf(given);
  const warnings: string[] = [];
  dropDuplicateOwners(object, warnings);
  dropDuplicateOwners(objectOf(given), warnings);
  expect(object.metadata.ownerReferences).toEqual(want);
  expect(warnings.map((warning) => warning.split('UID(s): ')[1])).toEqual(told);
});

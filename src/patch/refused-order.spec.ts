import { Catalog } from '../catalog/catalog.js';
import { namingProfile } from '../config/naming-profile.js';
import type { JsonObject } from '../machinery/kube-object.js';
import { inRefusedOrder, touchedByMerge, touchedByOperations } from './refused-order.js';

const pod = new Catalog(namingProfile('kubernetes')).kind('', 'v1', 'Pod')!;
const given: JsonObject = {
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { uid: 'u', labels: { b: '1', a: '2' }, name: 'p' },
  spec: { nodeName: 'n', containers: [{ image: 'i', name: 'c', zz: 1 }], zz: true },
};
/** Prints the order of fields: `apiVersion kind metadata(name uid)`. */
const shown = (value: unknown): string => {
  if (typeof value !== 'object' || value === null) return '';
  const parts = Object.entries(value).map(([name, part]) => (Array.isArray(value) ? '' : name) + shown(part));
  return `(${parts.join(' ')})`;
};

describe('field order of a refused object', () => {
  // prettier-ignore
  it.each([
    ['the object itself patched', touchedByMerge({}), '(apiVersion kind metadata(name uid labels(a b)) spec(containers((name image zz)) nodeName zz))'],
    ['a merge', touchedByMerge({ metadata: { name: 'p' } }), '(apiVersion kind metadata(labels(a b) name uid) spec(containers((name image zz)) nodeName zz))'],
    ['a merged list', touchedByMerge({ spec: { containers: [] } }), '(apiVersion kind metadata(name uid labels(a b)) spec(containers((image name zz)) nodeName zz))'],
    ['an operation', touchedByOperations([{ op: 'add', path: '/metadata/name', value: 'p' }]), '(apiVersion kind metadata(labels(a b) name uid) spec(containers((name image zz)) nodeName zz))'],
    ['an operation in a list', touchedByOperations([{ op: 'remove', path: '/spec/containers/0/image' }]), '(apiVersion kind metadata(name uid labels(a b)) spec(containers((image name zz)) nodeName zz))'],
  ])('%s', (_name, touched, want) => expect(shown(inRefusedOrder(given, pod, touched))).toBe(want));

  it('fields without a type are sorted', () => {
    const text = shown(inRefusedOrder({ kind: 'X', spec: { b: [{ d: 1, c: 1 }], a: 1 } }, undefined, new Map()));
    expect(text).toBe('(kind spec(a b((c d))))');
  });
});

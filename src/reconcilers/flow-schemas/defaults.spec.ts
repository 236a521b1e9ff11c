import type { KubeObject } from '../../machinery/kube-object.js';
import { isObsolete, revised, type DefaultObject } from './defaults.js';

const annotation = 'autoupdate';
const spec = { type: 'Limited', limited: { nominalConcurrencyShares: 5 } };
const suggested: DefaultObject = { resource: 'prioritylevelconfigurations', name: 'x', spec, isMandatory: false };
const mandatory: DefaultObject = { ...suggested, isMandatory: true };
const object = (own: object, value?: string, generation = 1): KubeObject => ({
  kind: 'PriorityLevelConfiguration',
  apiVersion: 'v1',
  metadata: { name: 'x', generation, annotations: { other: 'y', ...(value !== undefined && { [annotation]: value }) } },
  spec: own,
});
const other = { type: 'Limited', limited: { nominalConcurrencyShares: 7 } };

it.each<[string, DefaultObject, KubeObject, KubeObject | 'unchanged']>([
  ['equal', suggested, object(spec, 'true'), 'unchanged'],
  ['equal, with another form of true', suggested, object(spec, 'T'), 'unchanged'],
  ['changed', suggested, object(other, 'true', 2), object(spec, 'true', 2)],
  ['changed, not to be updated', suggested, object(other, 'false', 2), 'unchanged'],
  ['without annotation, never changed', suggested, object(other), object(spec, 'true')],
  ['without annotation, changed before', suggested, object(other, undefined, 2), object(other, 'false', 2)],
  ['with an invalid annotation, changed before', suggested, object(other, 'yes', 3), object(other, 'false', 3)],
  ['mandatory, changed, not to be updated', mandatory, object(other, 'false', 2), object(spec, 'true', 2)],
  ['mandatory, equal, without annotation', mandatory, object(spec), object(spec, 'true')],
])('a default object that is %s', (_what, desired, current, want) => {
  const result = revised(current, desired, annotation);
  if (want === 'unchanged') expect(result).toBe(current);
  else expect(result).toEqual(want);
});

it('the level exempt keeps its shares', () => {
  const exempt = { ...mandatory, name: 'exempt', spec: { type: 'Exempt', exempt: { nominalConcurrencyShares: 0 } } };
  const current = object({ type: 'Exempt', exempt: { nominalConcurrencyShares: 9 } }, 'true');
  expect(revised(current, exempt, annotation)).toBe(current);
  expect(revised(object({ type: 'Exempt' }, 'true'), exempt, annotation)['spec']).toEqual(exempt.spec);
});

it.each<[string | undefined, string, boolean]>([
  ['true', 'y', true],
  ['true', 'x', false],
  ['false', 'y', false],
  ['maybe', 'y', false],
  [undefined, 'y', false],
])('an object with the annotation %p is obsolete if %s is wanted: %p', (value, wanted, obsolete) =>
  expect(isObsolete(object(spec, value), new Set([wanted]), annotation)).toBe(obsolete),
);

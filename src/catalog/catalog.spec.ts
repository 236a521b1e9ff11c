import { namingProfile } from '../config/naming-profile.js';
import type { FieldType, StructType } from '../machinery/type-model.js';
import { Catalog } from './catalog.js';

const catalog = new Catalog(namingProfile('kubernetes'));

it('every field of every kind has a type', () => {
  const seen = new Set<StructType>();
  const visit = (type: FieldType): void => {
    if (type.form === 'list' || type.form === 'map') return visit(type.of);
    if (type.form !== 'struct' || seen.has(type)) return;
    seen.add(type);
    for (const field of type.fields) visit(field.type);
  };
  for (const { group, version, kind } of catalog.kinds().values()) visit(catalog.kind(group, version, kind)!);
  expect(seen.size).toBeGreaterThan(1000);
});

it.each([
  ['', 'v1', 'Pod', { introduced: '1.0' }],
  [
    ...['', 'v1', 'Endpoints'],
    {
      introduced: '1.0',
      deprecated: '1.33',
      replacement: { group: 'discovery.k8s.io', version: 'v1', kind: 'EndpointSlice' },
    },
  ],
  ['', 'v1', 'ComponentStatus', { introduced: '1.0', deprecated: '1.19' }],
  [
    ...['policy', 'v1beta1', 'PodDisruptionBudget'],
    {
      ...{ introduced: '1.5', deprecated: '1.21', removed: '1.25' },
      replacement: { group: 'policy', version: 'v1', kind: 'PodDisruptionBudget' },
    },
  ],
] as [string, string, string, object][])('the lifecycle of %s/%s is %s', (group, version, kind, lifecycle) => {
  expect(catalog.kindFacts(group, version, kind)?.lifecycle).toEqual(lifecycle);
});

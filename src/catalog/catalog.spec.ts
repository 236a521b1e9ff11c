import { namingProfile } from '../config/naming-profile.js';
import type { FieldType, StructType } from '../machinery/type-model.js';
import { Catalog } from './catalog.js';

const catalog = new Catalog(namingProfile('kubernetes'));

it('links every field of every kind', () => {
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

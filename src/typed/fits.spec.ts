import { Catalog } from '../catalog/catalog.js';
import { namingProfile } from '../config/naming-profile.js';
import type { JsonValue } from '../machinery/kube-object.js';
import { conform } from './conform.js';
import { fits } from './fits.js';

const deployment = new Catalog(namingProfile('kubernetes')).kind('apps', 'v1', 'Deployment')!;

it.each<[string, JsonValue, boolean]>([
  ['null where conform() writes null', { spec: { selector: null, template: { spec: { containers: null } } } }, true],
  ['null in a field that conform() leaves out', { spec: { replicas: null } }, false],
  ['null in place of a struct that conform() always writes', { spec: null }, false],
])('%s: %j fits: %p', (_, value, want) => {
  expect(fits(value, deployment, () => true)).toBe(want);
  if (want) expect(conform(value, deployment).object).toMatchObject(value as object);
});

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

const lease = new Catalog(namingProfile('kubernetes')).kind('coordination.k8s.io', 'v1', 'Lease')!;

it.each<[string, boolean]>([
  ['2026-11-24T15:00:25.123456Z', true],
  ['2028-02-29T00:00:00.000000Z', true],
  ['2026-11-24T15:00:25Z', false],
  ['2026-11-24T15:00:25.123Z', false],
  ['2026-11-24T15:00:25.1234567Z', false],
  ['2026-11-24T15:00:25,123456Z', false],
  ['2026-11-24T15:00:25.12345aZ', false],
  ['2026-11-24T15:00:25.123456z', false],
  ['2026-11-24T25:00:25.123456Z', false],
  ['2027-02-29T00:00:00.000000Z', false],
  ['0001-01-01T00:00:00.000000Z', false],
])('the time with microseconds %s fits: %p', (renewTime, want) => {
  const value = { spec: { renewTime } };
  expect(fits(value, lease, () => true)).toBe(want);
  if (want) expect(conform(value, lease).object).toMatchObject(value);
});

it.each<[string, boolean]>([
  ['2026-11-24T15:00:25Z', true],
  ['2026-12-31T23:59:59Z', true],
  ['2026-11-31T00:00:00Z', false],
  ['2026-00-01T00:00:00Z', false],
  ['2026-01-00T00:00:00Z', false],
  ['2026-12-31T24:00:00Z', false],
  ['0001-01-01T00:00:00Z', false],
])('the time %s fits: %p', (creationTimestamp, want) => {
  const value = { metadata: { creationTimestamp } };
  expect(fits(value, lease, () => true)).toBe(want);
  if (want) expect(conform(value, lease).object).toMatchObject(value);
});

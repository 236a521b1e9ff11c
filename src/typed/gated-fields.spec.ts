import { Catalog } from '../catalog/catalog.js';
import { namingProfile } from '../config/naming-profile.js';
import type { JsonObject } from '../machinery/kube-object.js';
import { GatedFields } from './gated-fields.js';

const catalog = new Catalog(namingProfile('kubernetes'));
const gated = new GatedFields((gate) => gate === 'DRADeviceTaints' || gate === 'DRADeviceBindingConditions');
const taints = [{ key: 'a', effect: 'NoExecute' }];
const slice = (...devices: object[]): JsonObject => ({ spec: { devices } }) as JsonObject;

it.each<[string, JsonObject, JsonObject | undefined, JsonObject]>([
  ['nothing to drop', slice({ name: 'd' }), undefined, slice({ name: 'd' })],
  ['drops the field of a new object', slice({ name: 'd', taints }, { taints }), undefined, slice({ name: 'd' }, {})],
  ['drops only fields of disabled gates', slice({ bindsToNode: true }), undefined, slice({})],
  ['drops the field if the old object does not use it', slice({ taints }), slice({ name: 'd' }), slice({})],
  [
    'keeps the field if the old object uses it anywhere',
    slice({ taints, bindsToNode: true }),
    slice({}, { taints: [] }),
    slice({ taints }),
  ],
  [
    'keeps the field of an enabled gate',
    slice({ allowMultipleAllocations: true }),
    undefined,
    slice({ allowMultipleAllocations: true }),
  ],
])('%s', (_name, object, old, want) => {
  const given = structuredClone(object);
  gated.drop(given, old, catalog.struct('resource.v1.ResourceSlice'));
  expect(given).toEqual(want);
});

it('finds fields in lists and maps', () => {
  const capacity = { m: { value: '1', requestPolicy: { default: '1' } }, n: { value: '1' } };
  const object = slice({ capacity: structuredClone(capacity) });
  new GatedFields((gate) => gate === 'DRAConsumableCapacity').drop(
    object,
    undefined,
    catalog.struct('resource.v1.ResourceSlice'),
  );
  expect(object).toEqual(slice({ capacity: { m: { value: '1' }, n: { value: '1' } } }));
  const map = { data: { taints: 'x' } };
  gated.drop(map, undefined, catalog.struct('core.v1.ConfigMap'));
  expect(map).toEqual({ data: { taints: 'x' } });
});

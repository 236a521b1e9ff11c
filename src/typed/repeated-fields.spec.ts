import { cpuMsOf } from '../../test/harness/cpu-time.js';
import { Catalog } from '../catalog/catalog.js';
import { namingProfile } from '../config/naming-profile.js';
import type { JsonObject, JsonValue } from '../machinery/kube-object.js';
import { mergeRepeated } from './repeated-fields.js';

const catalog = new Catalog(namingProfile('kubernetes'));
const merged = (value: JsonObject, kind = 'Pod', group = '', mark = '!') =>
  mergeRepeated(value, catalog.kind(group, 'v1', kind)!, mark);

describe('duplicate fields of one object', () => {
  // prettier-ignore
  it.each<[string, JsonObject, JsonObject]>([
    ['structs are merged', { metadata: { name: 'a' }, 'metadata!1': { namespace: 'b' } }, { metadata: { name: 'a', namespace: 'b' } }],
    ['the last string wins', { metadata: { name: 'a', 'name!1': 'b', 'name!2': 'c' } }, { metadata: { name: 'c' } }],
    ['maps are merged', { metadata: { labels: { a: '1', b: '1' }, 'labels!1': { b: '2', c: '2' } } }, { metadata: { labels: { a: '1', b: '2', c: '2' } } }],
    ['items of lists are merged by index', { spec: { containers: [{ name: 'a', image: 'i' }, { name: 'b' }], 'containers!1': [{ name: 'c' }] } }, { spec: { containers: [{ name: 'c', image: 'i' }] } }],
    ['a struct and null is the struct', { spec: { nodeName: 'a' }, 'spec!1': null }, { spec: { nodeName: 'a' } }],
    ['a pointer and null is null', { spec: { securityContext: { runAsUser: 1 }, 'securityContext!1': null } }, { spec: { securityContext: null } }],
    ['a list and null is null', { spec: { containers: [{ name: 'a' }], 'containers!1': null } }, { spec: { containers: null } }],
    ['null and a value is the value', { spec: null, 'spec!1': { nodeName: 'a' } }, { spec: { nodeName: 'a' } }],
    ['the last unknown field wins', { zz: { a: 1 }, 'zz!1': { b: 1, 'b!2': 2 } }, { zz: { b: 2 } }],
    ['values of a wrong type are kept', { spec: 'x', 'spec!1': { nodeName: 'a' }, 'spec!2': 'y' }, { spec: 'y' }],
  ])('%s', (_name, given, want) => expect(merged(given)).toEqual(want));

  it('the last free-form field wins', () => {
    const given = { webhooks: [], data: { a: { x: 1 } }, 'data!1': { b: 1 } } as JsonValue as JsonObject;
    expect(merged(given, 'ControllerRevision', 'apps')).toEqual({ webhooks: [], data: { b: 1 } });
  });

  it('merging takes time linear in the text', () => {
    const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`k${index}`, '']));
    const places = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`labels!${index}`, {}]));
    expect(cpuMsOf(() => void merged({ metadata: { labels: many, ...places } }), 2000)).toBeLessThan(2000);
  });
});

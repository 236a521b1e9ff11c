import { attackedKinds, objectOf } from './templates.js';
import { longText, textShapes, usualShape } from './text-shapes.js';
import { markedObject, textFieldsOf, textIn, type TextField } from './text-walk.js';

const pods = attackedKinds.find(({ facts }) => facts.resource!.plural === 'pods')!;
const fields = new Map(textFieldsOf(pods.struct).map((field) => [field.title, field]));
const filled = (field: TextField) => JSON.parse(textIn(markedObject(objectOf(pods), field), '"text"'));

it.each<[string, TextField['form'], object]>([
  ['metadata.name', 'text', { metadata: { name: 'text' } }],
  ['metadata.labels{key}', 'key', { metadata: { labels: { text: expect.any(String) } } }],
  ['metadata.labels{}', 'text', { metadata: { labels: { key: 'text' } } }],
  ['metadata.finalizers[]', 'text', { metadata: { finalizers: ['text'] } }],
  ['metadata.creationTimestamp', 'text', { metadata: { creationTimestamp: 'text' } }],
  ['metadata.managedFields[].fieldsV1', 'free', { metadata: { managedFields: [{ fieldsV1: 'text' }] } }],
  [
    'spec.containers[].resources.limits{}',
    'text',
    { spec: { containers: [{ resources: { limits: { key: 'text' } } }] } },
  ],
  [
    'spec.volumes[].csi.driver',
    'text',
    { spec: { volumes: expect.arrayContaining([expect.objectContaining({ csi: { driver: 'text' } })]) } },
  ],
  ['status.podIPs[].ip', 'text', { status: { podIPs: [{ ip: 'text' }] } }],
])('puts a text into %s of a Pod', (title, form, want) => {
  const field = fields.get(title)!;
  expect(field.form).toBe(form);
  expect(filled(field)).toMatchObject(want);
});

it('sets only one member of a union', () => {
  expect(Object.keys(filled(fields.get('spec.volumes[].csi.driver')!).spec.volumes[0])).toEqual(['name', 'csi']);
});

it.each(textShapes)('makes a text of "$name" as long as allowed', (shape) => {
  const text = longText(shape, 10_000);
  const bytes = Buffer.byteLength(JSON.stringify(text)) - 2;
  expect(bytes).toBeLessThanOrEqual(10_000);
  expect(bytes).toBeGreaterThan(9_900);
});

it.each([
  ['spec.containers[].env[].valueFrom.fieldRef.fieldPath', 'brackets in a fieldPath'],
  ['spec.schedule', 'a cron schedule'],
  ['spec.securityContext.sysctls[].name', 'a sysctl'],
  ['spec.cidrs[]', 'a CIDR list'],
  ['spec.acquireTime', 'a time'],
  ['data{}', undefined],
])('the usual shape of %s is %s', (title, want) => expect(usualShape(title)?.name).toBe(want));

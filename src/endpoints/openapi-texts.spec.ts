import { Catalog } from '../catalog/catalog.js';
import { namingProfile } from '../config/naming-profile.js';
import { describeField, texts } from './openapi-texts.js';

const catalog = new Catalog(namingProfile('kubernetes'));

it.each(Object.keys(texts))('are of fields that there are: %s', (struct) => {
  const fields = catalog.struct(struct).fields.map(({ name }) => name);
  expect([...fields, '']).toEqual(expect.arrayContaining(Object.keys(texts[struct]!)));
});

it.each([
  ['core.v1.Pod', '', 'Containers that run together'],
  ['core.v1.PodSpec', 'nodeName', 'The node.'],
  ['core.v1.Pod', 'spec', 'What is wanted.'],
  ['core.v1.Pod', 'metadata', 'What every object has'],
  ['core.v1.PodList', 'metadata', 'Where the list stands.'],
  ['core.v1.PodCondition', 'status', 'True, False or Unknown.'],
  ['core.v1.PodStatus', 'conditions', 'How it stands'],
  ['core.v1.ModifyVolumeStatus', 'status', undefined],
  ['core.v1.PodSpec', 'setHostnameAsFQDN', undefined],
  ['storage.v1.CSINode', '', undefined],
])('of %s.%s: %s', (struct, field, want) => {
  const text = describeField(struct, field);
  expect(text?.slice(0, want?.length)).toBe(want);
});

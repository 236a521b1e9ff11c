import { Catalog } from '../catalog/catalog.js';
import { namingProfile } from '../config/naming-profile.js';
import { describeField, texts } from './texts.js';

const catalog = new Catalog(namingProfile('kubernetes'));

it.each(Object.keys(texts))('texts of %s name only fields of its catalog type', (struct) => {
  const fields = catalog.struct(struct).fields.map(({ name }) => name);
  expect([...fields, '']).toEqual(expect.arrayContaining(Object.keys(texts[struct]!)));
});

it.each([
  ['core.v1.Pod', '', 'Group of containers'],
  ['core.v1.PodSpec', 'serviceAccountName', 'ServiceAccount that the Pod uses to talk to the API.'],
  ['core.v1.Pod', 'spec', 'Desired state of the object'],
  ['core.v1.Pod', 'metadata', 'Standard metadata of the object'],
  ['core.v1.PodList', 'metadata', 'Standard metadata of the list'],
  ['core.v1.PodCondition', 'status', 'State of the condition'],
  ['core.v1.PodStatus', 'conditions', 'Latest observations of the state'],
  ['core.v1.ModifyVolumeStatus', 'status', undefined],
  ['core.v1.PodSpec', 'setHostnameAsFQDN', undefined],
  ['storage.v1.CSINode', '', undefined],
])('text of %s.%s begins with: %s', (struct, field, want) => {
  const text = describeField(struct, field);
  expect(text?.slice(0, want?.length)).toBe(want);
});

it.each(Object.entries(texts))('texts of %s are noun phrases or conditions that end with a full stop', (_, fields) => {
  for (const text of Object.values(fields)) {
    expect(text).toMatch(/^[A-Z][^]*\.$/);
    expect(text).not.toMatch(/^(What|Who|Whose|Where|How|Whether|When|The) /);
  }
});

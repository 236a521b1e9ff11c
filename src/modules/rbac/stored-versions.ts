import { asItems, asText, isSet, type Fields } from '../../machinery/fields.js';
import { parseApiVersion } from '../../machinery/gvk.js';
import type { StoredVersion } from '../../registry/definition/resource-definition.js';

/** Subjects of v1alpha1 have an apiVersion where later ones have an apiGroup, and a User "*" that means a group. */
export const storedBindings = (group: string): readonly StoredVersion[] => [
  {
    group,
    version: 'v1alpha1',
    toHub: (stored) =>
      isSet(stored['subjects'])
        ? { ...stored, subjects: asItems(stored['subjects']).map((subject) => subjectToHub(subject, group)) }
        : stored,
  },
];

function subjectToHub({ apiVersion, ...subject }: Fields, group: string): Fields {
  const kind = asText(subject['kind']);
  if (kind === 'ServiceAccount') return subject;
  if (kind === 'User' && subject['name'] === '*') {
    return { ...subject, apiGroup: group, kind: 'Group', name: 'system:authenticated' };
  }
  if (kind === 'User' || kind === 'Group') return { ...subject, apiGroup: group };
  const apiGroup = parseApiVersion(asText(apiVersion))?.group ?? '';
  return apiGroup === '' ? subject : { ...subject, apiGroup };
}

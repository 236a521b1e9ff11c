import type * as v1 from '../../catalog/types/rbac.v1.js';
import type * as v1alpha1 from '../../catalog/types/rbac.v1alpha1.js';
import { parseApiVersion } from '../../machinery/gvk.js';
import type { StoredVersion } from '../../registry/definition/resource-definition.js';

/** v1alpha1 has apiVersion instead of apiGroup in subjects, and the User "*" for all authenticated users. */
export const storedBindings = (group: string): readonly StoredVersion[] => [
  {
    group,
    version: 'v1alpha1',
    toHub: (stored: v1alpha1.RoleBinding): v1.RoleBinding =>
      stored.subjects
        ? { ...stored, subjects: stored.subjects.map((subject) => subjectToHub(subject, group)) }
        : stored,
  },
];

function subjectToHub({ apiVersion = '', ...subject }: v1alpha1.Subject, group: string): v1.Subject {
  const { kind } = subject;
  if (kind === 'ServiceAccount') return subject;
  if (kind === 'User' && subject.name === '*') {
    return { ...subject, apiGroup: group, kind: 'Group', name: 'system:authenticated' };
  }
  if (kind === 'User' || kind === 'Group') return { ...subject, apiGroup: group };
  const apiGroup = parseApiVersion(apiVersion)?.group ?? '';
  return apiGroup === '' ? subject : { ...subject, apiGroup };
}

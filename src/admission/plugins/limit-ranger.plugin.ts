import type { NamingProfile } from '../../config/naming-profile.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission-plugin.js';
import { claimProblems, podProblems, setDefaults } from '../limits/limit-range.js';
import { isAbout } from '../matching.js';
import type { ObjectReader } from '../object-reader.js';
import { allOf, forbid } from '../refusal.js';

const ranges = { group: '', resource: 'limitranges' };

interface Parts {
  readonly objects: ObjectReader;
  readonly naming: NamingProfile;
}

/** What a namespace says of the size of Pods, containers and claims: what is left out is filled in, what is beyond is refused. */
export function limitRanger({ objects, naming }: Parts): AdmissionPlugin {
  const annotation = naming.label('limit-ranger');

  function refuse(attributes: AdmissionAttributes, rule: typeof podProblems): void {
    for (const range of objects.list(ranges, attributes.namespace)) {
      const problems = rule(attributes.object!, range);
      if (problems.length > 0) throw forbid(attributes, allOf(problems));
    }
  }

  return {
    name: 'LimitRanger',
    admit(attributes) {
      const { object, namespace } = attributes;
      if (!isAbout(attributes, '', 'pods', ['CREATE']) || !object) return;
      const notes = objects.list(ranges, namespace).flatMap((range) => setDefaults(object, range));
      if (notes.length === 0) return;
      (object.metadata.annotations ??= {})[annotation] = `LimitRanger plugin set: ${notes.join('; ')}`;
    },
    validate(attributes) {
      if (!attributes.object || attributes.object.metadata.deletionTimestamp !== undefined) return;
      if (isAbout(attributes, '', 'persistentvolumeclaims', ['CREATE', 'UPDATE'])) refuse(attributes, claimProblems);
      else if (isAbout(attributes, '', 'pods', ['CREATE']) || isResize(attributes)) refuse(attributes, podProblems);
    },
  };
}

/** Containers of a Pod that is there change their size only through this. */
function isResize({ resource, subresource, operation }: AdmissionAttributes): boolean {
  return resource.group === '' && resource.resource === 'pods' && subresource === 'resize' && operation === 'UPDATE';
}

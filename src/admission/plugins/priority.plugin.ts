import type { NamingProfile } from '../../config/naming-profile.js';
import { asNumber, asText, isSet, makeFields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission-plugin.js';
import { isAbout } from '../matching.js';
import { find, type ObjectReader } from '../object-reader.js';
import { forbid } from '../refusal.js';

interface Parts {
  readonly objects: ObjectReader;
  readonly naming: NamingProfile;
}

interface Priority {
  readonly className: string;
  readonly value: number;
  readonly preemptionPolicy: string;
}

const ordinary: Priority = { className: '', value: 0, preemptionPolicy: 'PreemptLowerPriority' };

/** A Pod's priority is what its class says, or the default class where it names none. There is one default class. */
export function priority({ objects, naming }: Parts): AdmissionPlugin {
  const group = naming.group('scheduling');
  const classes = { group, resource: 'priorityclasses' };

  /** Where several got past the check, the least of them. */
  const defaultClass = () =>
    objects
      .list(classes, '')
      .filter((one) => one['globalDefault'] === true)
      .sort((a, b) => asNumber(a['value']) - asNumber(b['value']))[0];

  async function priorityOf(attributes: AdmissionAttributes, name: string): Promise<Priority> {
    if (name === '') {
      const found = defaultClass();
      return found ? priorityIn(found) : ordinary;
    }
    const found = await find(objects, classes, '', name, attributes.request.signal);
    if (!found) throw forbid(attributes, `no PriorityClass with name ${name} was found`);
    return priorityIn(found);
  }

  return {
    name: 'Priority',
    async admit(attributes) {
      const { object, old, operation } = attributes;
      if (!isAbout(attributes, '', 'pods', ['CREATE', 'UPDATE']) || !object) return;
      const spec = makeFields(object, 'spec');
      if (operation === 'UPDATE') {
        // Clients that do not know these fields leave them out; they are not theirs to change.
        const oldSpec = makeFields({ spec: old?.['spec'] }, 'spec');
        for (const field of ['priority', 'preemptionPolicy']) {
          if (!isSet(spec[field]) && isSet(oldSpec[field])) spec[field] = oldSpec[field];
        }
        return;
      }
      const { className, value, preemptionPolicy } = await priorityOf(attributes, asText(spec['priorityClassName']));
      if (isSet(spec['priority']) && spec['priority'] !== value) {
        throw forbid(attributes, refusalOf('integer value of priority', spec['priority'], value));
      }
      if (isSet(spec['preemptionPolicy']) && spec['preemptionPolicy'] !== preemptionPolicy) {
        throw forbid(
          attributes,
          refusalOf('string value of PreemptionPolicy', spec['preemptionPolicy'], preemptionPolicy),
        );
      }
      if (className !== '') spec['priorityClassName'] = className;
      Object.assign(spec, { priority: value, preemptionPolicy });
    },
    validate(attributes) {
      const { object, operation } = attributes;
      if (!isAbout(attributes, group, 'priorityclasses', ['CREATE', 'UPDATE'])) return;
      if (object?.['globalDefault'] !== true) return;
      const found = defaultClass();
      if (!found || (operation === 'UPDATE' && found.metadata.name === object.metadata.name)) return;
      throw forbid(
        attributes,
        `PriorityClass ${found.metadata.name} is already marked as default. Only one default can exist`,
      );
    },
  };
}

function priorityIn(found: KubeObject): Priority {
  return {
    className: found.metadata.name ?? '',
    value: asNumber(found['value']),
    preemptionPolicy: asText(found['preemptionPolicy']) || ordinary.preemptionPolicy,
  };
}

function refusalOf(what: string, given: unknown, computed: string | number): string {
  return `the ${what} (${String(given)}) must not be provided in pod spec; priority admission controller computed ${computed} from the given PriorityClass name`;
}

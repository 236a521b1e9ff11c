import { decodeJson } from '../../codec/json.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { asFields, asItems, makeFields, type Fields } from '../../machinery/fields.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission-plugin.js';
import { isAbout } from '../matching.js';
import { find, type ObjectReader } from '../object-reader.js';
import { covers, mergeTolerations } from '../pods/tolerations.js';
import { isBestEffort } from '../quota/scopes.js';
import { forbid } from '../refusal.js';

const namespaces = { group: '', resource: 'namespaces' };

interface Parts {
  readonly objects: ObjectReader;
  readonly naming: NamingProfile;
  readonly configuration: { readonly others: ReadonlyMap<string, Fields> };
}

/**
 * A namespace says in its annotations what its Pods tolerate, and what they may tolerate at most; the configuration says
 * so where it does not.
 */
export function podTolerationRestriction({ objects, naming, configuration }: Parts): AdmissionPlugin {
  const configured = asFields(configuration.others.get('PodTolerationRestriction'));
  const own = {
    default: naming.label('defaultTolerations', 'scheduler.alpha'),
    whitelist: naming.label('tolerationsWhitelist', 'scheduler.alpha'),
  };
  const pressure = { key: naming.label('memory-pressure', 'node'), operator: 'Exists', effect: 'NoSchedule' };

  async function said(attributes: AdmissionAttributes, what: keyof typeof own): Promise<Fields[]> {
    const { namespace, request } = attributes;
    const found = await find(objects, namespaces, '', namespace, request.signal);
    const text = found?.metadata.annotations?.[own[what]];
    if (text === undefined) return asItems(configured[what]);
    try {
      return text === '' ? [] : asItems(decodeJson(text));
    } catch {
      throw forbid(attributes, `the annotation ${own[what]} of the namespace is not a list of tolerations`);
    }
  }

  const podOf = (attributes: AdmissionAttributes) =>
    isAbout(attributes, '', 'pods', ['CREATE', 'UPDATE']) ? attributes.object : undefined;

  return {
    name: 'PodTolerationRestriction',
    async admit(attributes) {
      const pod = podOf(attributes);
      if (!pod) return;
      const spec = makeFields(pod, 'spec');
      const given = attributes.operation === 'CREATE' ? await said(attributes, 'default') : [];
      // What asks for memory is not the first to go where there is little.
      const robust = isBestEffort(spec) ? [] : [pressure];
      if (given.length + robust.length === 0) return;
      const tolerations = given.length === 0 ? spec['tolerations'] : mergeTolerations(given, spec['tolerations']);
      spec['tolerations'] = robust.length === 0 ? tolerations : mergeTolerations(tolerations, robust);
    },
    async validate(attributes) {
      const pod = podOf(attributes);
      if (!pod) return;
      const allowed = await said(attributes, 'whitelist');
      if (allowed.length === 0) return;
      const tolerations = asItems(asFields(pod['spec'])['tolerations']);
      if (tolerations.every((toleration) => allowed.some((wide) => covers(wide, toleration)))) return;
      const why =
        'pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist';
      throw forbid(attributes, why);
    },
  };
}

import type { NamingProfile } from '../../config/naming-profile.js';
import { asFields, asText, asTextMap, makeFields, type Fields } from '../../machinery/fields.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission-plugin.js';
import { newPodOf } from '../matching.js';
import { find, type ObjectReader } from '../object-reader.js';
import { forbid } from '../refusal.js';

const namespaces = { group: '', resource: 'namespaces' };

interface Parts {
  readonly objects: ObjectReader;
  readonly naming: NamingProfile;
  readonly configuration: { readonly others: ReadonlyMap<string, Fields> };
}

/**
 * Pods of a namespace go only to the nodes that its annotation names. The configuration says which are meant where
 * there is none, and by a namespace's name what else its Pods may ask for.
 */
export function podNodeSelector({ objects, naming, configuration }: Parts): AdmissionPlugin {
  const annotation = naming.label('node-selector', 'scheduler.alpha');
  const configured = asFields(configuration.others.get('PodNodeSelector')?.['podNodeSelectorPluginConfig']);

  async function wantedBy({ namespace, request }: AdmissionAttributes): Promise<Map<string, string>> {
    const found = await find(objects, namespaces, '', namespace, request.signal);
    return labelsIn(found?.metadata.annotations?.[annotation] ?? asText(configured['clusterDefaultNodeSelector']));
  }

  return {
    name: 'PodNodeSelector',
    async admit(attributes) {
      const pod = newPodOf(attributes);
      if (!pod) return;
      const wanted = await wantedBy(attributes);
      if (wanted.size === 0) return;
      const own = makeFields(makeFields(pod, 'spec'), 'nodeSelector');
      for (const [key, value] of wanted) {
        if (Object.hasOwn(own, key) && own[key] !== value) {
          throw forbid(attributes, 'pod node label selector conflicts with its namespace node label selector');
        }
        own[key] = value;
      }
    },
    validate(attributes) {
      const pod = newPodOf(attributes);
      if (!pod) return;
      const listed = configured[attributes.namespace];
      if (listed === undefined) return;
      const allowed = labelsIn(asText(listed));
      const own = asTextMap(asFields(pod['spec'])['nodeSelector']);
      if (own.every(([key, value]) => !allowed.has(key) || allowed.get(key) === value)) return;
      throw forbid(attributes, 'pod node label selector labels conflict with its namespace whitelist');
    },
  };
}

/** `a=b,c=d` */
function labelsIn(text: string): Map<string, string> {
  const pairs = text.split(',').map((pair) => pair.split('=').map((part) => part.trim()));
  return new Map(
    pairs.flatMap(([key = '', value]) => (key === '' || value === undefined ? [] : [[key, value] as const])),
  );
}

import { asFields, asText } from '../../machinery/fields.js';
import { defineAdmissionPlugin, type AdmissionAttributes } from '../admission-plugin.js';
import { newPodOf } from '../matching.js';
import { find } from '../object-reader.js';
import { forbid } from '../refusal.js';

const namespaces = { group: '', resource: 'namespaces' };

/**
 * Adds the node selector in the annotation of the namespace, or in the configuration, to new Pods. The configuration may
 * also limit the node selectors of a namespace.
 */
export const podNodeSelector = defineAdmissionPlugin({
  name: 'PodNodeSelector',
  runs: 'if enabled',
  make({ objects, naming, configuration }) {
    const annotation = naming.label('node-selector', 'scheduler.alpha');
    const configured = asFields(configuration.others.get('PodNodeSelector')?.['podNodeSelectorPluginConfig']);

    async function selectorFor({ namespace, request }: AdmissionAttributes): Promise<Map<string, string>> {
      const found = await find(objects, namespaces, '', namespace, request.signal);
      return parseLabels(found?.metadata.annotations?.[annotation] ?? asText(configured['clusterDefaultNodeSelector']));
    }

    return {
      async admit(attributes) {
        const pod = newPodOf(attributes);
        if (!pod) return;
        const selector = await selectorFor(attributes);
        if (selector.size === 0) return;
        const nodeSelector = ((pod.spec ??= {}).nodeSelector ??= {});
        for (const [key, value] of selector) {
          if (Object.hasOwn(nodeSelector, key) && nodeSelector[key] !== value) {
            throw forbid(attributes, 'pod node label selector conflicts with its namespace node label selector');
          }
          nodeSelector[key] = value;
        }
      },
      validate(attributes) {
        const pod = newPodOf(attributes);
        if (!pod) return;
        const listed = configured[attributes.namespace];
        if (listed === undefined) return;
        const allowed = parseLabels(asText(listed));
        const own = Object.entries(pod.spec?.nodeSelector ?? {});
        if (own.every(([key, value]) => !allowed.has(key) || allowed.get(key) === value)) return;
        throw forbid(attributes, 'pod node label selector labels conflict with its namespace whitelist');
      },
    };
  },
});

/** Parses `a=b,c=d`. */
function parseLabels(text: string): Map<string, string> {
  const pairs = text.split(',').map((pair) => pair.split('=').map((part) => part.trim()));
  return new Map(
    pairs.flatMap(([key = '', value]) => (key === '' || value === undefined ? [] : [[key, value] as const])),
  );
}

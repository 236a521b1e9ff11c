import { defineAdmissionPlugin, type AdmissionAttributes } from '../admission-plugin.js';
import { newPodOf, onlyPods } from '../matching.js';
import { find } from '../object-reader.js';
import { mergeNodeSelector, parseNodeSelector } from '../pods/node-selector.js';
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
    const { clusterDefault, allowed } = configuration.nodeSelectors;

    async function selectorFor({ namespace, request }: AdmissionAttributes): Promise<ReadonlyMap<string, string>> {
      const found = await find(objects, namespaces, '', namespace, request.signal);
      const text = found?.metadata.annotations?.[annotation];
      return text === undefined ? clusterDefault : parseNodeSelector(text);
    }

    return {
      resources: onlyPods,
      async admit(attributes) {
        const pod = newPodOf(attributes);
        if (!pod) return;
        if (mergeNodeSelector((pod.spec ??= {}), await selectorFor(attributes))) {
          throw forbid(attributes, 'pod node label selector conflicts with its namespace node label selector');
        }
      },
      validate(attributes) {
        const pod = newPodOf(attributes);
        if (!pod) return;
        const labels = allowed.get(attributes.namespace);
        if (!labels) return;
        const own = Object.entries(pod.spec?.nodeSelector ?? {});
        if (own.every(([key, value]) => !labels.has(key) || labels.get(key) === value)) return;
        throw forbid(attributes, 'pod node label selector labels conflict with its namespace whitelist');
      },
    };
  },
});

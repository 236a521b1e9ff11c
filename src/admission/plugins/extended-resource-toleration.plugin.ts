import { defineAdmissionPlugin } from '../admission-plugin.js';
import { changeableSpecOf, onlyPods, writtenPodOf } from '../matching.js';
import { containersOf } from '../../pods/containers.js';
import { amountsOf } from '../pods/pod-requests.js';
import { isExtendedResource } from '../pods/resource-names.js';
import { putToleration } from '../pods/tolerations.js';

/** Adds a toleration for each extended resource that a Pod requests: nodes with such devices have a taint of that name. */
export const extendedResourceToleration = defineAdmissionPlugin({
  name: 'ExtendedResourceToleration',
  runs: 'if enabled',
  make: ({ naming }) => ({
    resources: onlyPods,
    admit(attributes) {
      const pod = writtenPodOf(attributes);
      if (!pod) return;
      const spec = changeableSpecOf(pod);
      const requested = containersOf(spec, ['initContainers', 'containers']).flatMap((container) => [
        ...amountsOf(container, 'requests').keys(),
      ]);
      const devices = new Set(requested.filter((name) => isExtendedResource(name, naming)));
      for (const key of [...devices].sort()) putToleration(spec, { key, operator: 'Exists' });
    },
  }),
});

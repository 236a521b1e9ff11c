import type { Pod } from '../../catalog/types/core.v1.js';
import { defineAdmissionPlugin } from '../admission-plugin.js';
import { isAbout, onlyPods } from '../matching.js';
import { forbid } from '../refusal.js';

/** Refuses required Pod anti-affinity with another topologyKey than the host name, which could block a whole zone. */
export const limitPodHardAntiAffinityTopology = defineAdmissionPlugin({
  name: 'LimitPodHardAntiAffinityTopology',
  runs: 'if enabled',
  make({ naming }) {
    const hostName = naming.label('hostname');
    return {
      resources: onlyPods,
      validate(attributes) {
        if (!isAbout(attributes, '', 'pods', ['CREATE', 'UPDATE'])) return;
        const pod: Pod | undefined = attributes.object;
        const terms = pod?.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
        const wide = terms.find(({ topologyKey }) => topologyKey !== hostName);
        if (!wide) return;
        throw forbid(
          attributes,
          `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${String(wide.topologyKey)} but only key ${hostName} is allowed`,
        );
      },
    };
  },
});

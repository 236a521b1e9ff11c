import type { NamingProfile } from '../../config/naming-profile.js';
import { asFields, asItems } from '../../machinery/fields.js';
import type { AdmissionPlugin } from '../admission-plugin.js';
import { isAbout } from '../matching.js';
import { forbid } from '../refusal.js';

/** A Pod may keep others off its node, and not off a whole zone. */
export function limitPodHardAntiAffinityTopology({ naming }: { readonly naming: NamingProfile }): AdmissionPlugin {
  const hostName = naming.label('hostname');
  return {
    name: 'LimitPodHardAntiAffinityTopology',
    validate(attributes) {
      if (!isAbout(attributes, '', 'pods', ['CREATE', 'UPDATE'])) return;
      const { podAntiAffinity } = asFields(asFields(attributes.object?.['spec'])['affinity']);
      const terms = asItems(asFields(podAntiAffinity)['requiredDuringSchedulingIgnoredDuringExecution']);
      const wide = terms.find(({ topologyKey }) => topologyKey !== hostName);
      if (!wide) return;
      throw forbid(
        attributes,
        `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${String(wide['topologyKey'])} but only key ${hostName} is allowed`,
      );
    },
  };
}

import type { NamingProfile } from '../../config/naming-profile.js';
import { asItems, asText, makeFields } from '../../machinery/fields.js';
import type { AdmissionPlugin } from '../admission-plugin.js';
import { isAbout } from '../matching.js';

interface Parts {
  readonly naming: NamingProfile;
  readonly notReadyTolerationSeconds: number;
  readonly unreachableTolerationSeconds: number;
}

/** A node may be gone for a while before the Pods on it are moved; Pods that say how long are left alone. */
export function defaultTolerationSeconds(parts: Parts): AdmissionPlugin {
  const taints = [
    { key: parts.naming.label('not-ready', 'node'), seconds: parts.notReadyTolerationSeconds },
    { key: parts.naming.label('unreachable', 'node'), seconds: parts.unreachableTolerationSeconds },
  ];
  return {
    name: 'DefaultTolerationSeconds',
    admit(attributes) {
      if (!isAbout(attributes, '', 'pods', ['CREATE', 'UPDATE']) || !attributes.object) return;
      const spec = makeFields(attributes.object, 'spec');
      const given = asItems(spec['tolerations']);
      const missing = taints.filter(
        ({ key }) =>
          !given.some(
            (toleration) =>
              ['', key].includes(asText(toleration['key'])) && ['', 'NoExecute'].includes(asText(toleration['effect'])),
          ),
      );
      if (missing.length === 0) return;
      spec['tolerations'] = [
        ...given,
        ...missing.map(({ key, seconds }) => ({
          key,
          operator: 'Exists',
          effect: 'NoExecute',
          tolerationSeconds: seconds,
        })),
      ];
    },
  };
}

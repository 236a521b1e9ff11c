import type { Service } from '../../catalog/types/core.v1.js';
import { defineAdmissionPlugin } from '../admission-plugin.js';
import { isAbout } from '../matching.js';
import { forbid } from '../refusal.js';

/** Refuses new addresses in spec.externalIPs, since a Service with the address of another host receives its traffic. */
export const denyServiceExternalIps = defineAdmissionPlugin({
  name: 'DenyServiceExternalIPs',
  runs: 'if enabled',
  make: () => ({
    resources: [{ group: '', resource: 'services' }],
    validate(attributes) {
      if (!isAbout(attributes, '', 'services', ['CREATE', 'UPDATE'])) return;
      const known = new Set(addressesOf(attributes.old));
      if (addressesOf(attributes.object).every((address) => known.has(address))) return;
      throw forbid(attributes, 'Use of external IPs is denied by admission control');
    },
  }),
});

const addressesOf = (service: Service | undefined): readonly string[] => service?.spec?.externalIPs ?? [];

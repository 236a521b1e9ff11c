import { asFields, asTexts } from '../../machinery/fields.js';
import type { AdmissionPlugin } from '../admission-plugin.js';
import { isAbout } from '../matching.js';
import { forbid } from '../refusal.js';

/** Addresses of the outside that a Service may claim are a way to catch others' traffic: none are added. */
export const denyServiceExternalIps: AdmissionPlugin = {
  name: 'DenyServiceExternalIPs',
  validate(attributes) {
    if (!isAbout(attributes, '', 'services', ['CREATE', 'UPDATE'])) return;
    const addressesOf = (service: typeof attributes.object) => asTexts(asFields(service?.['spec'])['externalIPs']);
    const known = new Set(addressesOf(attributes.old));
    if (addressesOf(attributes.object).every((address) => known.has(address))) return;
    throw forbid(attributes, 'Use of external IPs is denied by admission control');
  },
};

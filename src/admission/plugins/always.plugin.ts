import type { AdmissionPlugin } from '../admission-plugin.js';
import { forbid } from '../refusal.js';

export const alwaysAdmit: AdmissionPlugin = { name: 'AlwaysAdmit' };

export const alwaysDeny: AdmissionPlugin = {
  name: 'AlwaysDeny',
  admit(attributes) {
    throw forbid(attributes, 'admission control is denying all modifications');
  },
  validate(attributes) {
    throw forbid(attributes, 'admission control is denying all modifications');
  },
};

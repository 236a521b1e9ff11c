import { defineAdmissionPlugin, type AdmissionAttributes } from '../admission-plugin.js';
import { forbid } from '../refusal.js';

export const alwaysAdmit = defineAdmissionPlugin({ name: 'AlwaysAdmit', runs: 'if enabled', make: () => ({}) });

export const alwaysDeny = defineAdmissionPlugin({
  name: 'AlwaysDeny',
  runs: 'if enabled',
  make: () => ({ admit: deny, validate: deny }),
});

function deny(attributes: AdmissionAttributes): never {
  throw forbid(attributes, 'admission control is denying all modifications');
}

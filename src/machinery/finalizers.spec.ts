import { namingProfile } from '../config/naming-profile.js';
import * as finalizers from './finalizers.js';

it.each([
  [
    'kubernetes',
    [
      'customresourcecleanup.apiextensions.k8s.io',
      'foregroundDeletion',
      'kubernetes',
      'kubernetes.io/pv-protection',
      'kubernetes.io/pvc-protection',
      'kubernetes.io/vac-protection',
      'networking.k8s.io/service-cidr-finalizer',
      'orphan',
    ],
  ],
  [
    'svc',
    [
      'customresourcecleanup.apiextensions.example.com',
      'example.com/pv-protection',
      'example.com/pvc-protection',
      'example.com/vac-protection',
      'foregroundDeletion',
      'networking.example.com/service-cidr-finalizer',
      'orphan',
      'svc',
    ],
  ],
] as const)('finalizers of the profile %s have its domains', (profile, want) => {
  const naming = namingProfile(profile, profile === 'svc' ? { apiDomain: 'example.com' } : {});
  const names = Object.values(finalizers).map((name) => (typeof name === 'string' ? name : name(naming)));
  expect(names.sort()).toEqual(want);
});

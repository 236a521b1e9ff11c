import { ApiGroup } from '../../registry/apis/api-group.js';
import {
  admissionregistrationResources,
  admissionregistrationVersion,
  mutatingPolicies,
} from './admissionregistration.resources.js';

@ApiGroup((naming) => {
  const { group } = admissionregistrationVersion(naming);
  const groupPriority = 16700;
  return [
    { group, version: 'v1', groupPriority, versionPriority: 15, resources: admissionregistrationResources(naming) },
    {
      group,
      version: 'v1beta1',
      groupPriority,
      versionPriority: 12,
      resources: mutatingPolicies(naming, 'v1beta1'),
    },
    {
      group,
      version: 'v1alpha1',
      groupPriority,
      versionPriority: 9,
      resources: mutatingPolicies(naming, 'v1alpha1'),
    },
  ];
})
export class AdmissionregistrationGroup {}

import { ApiGroup } from '../../registry/apis/api-group.js';
import { certificatesGroup, certificatesResources } from './certificates.resources.js';

@ApiGroup((naming) => {
  const { v1, v1beta1, v1alpha1 } = certificatesResources(naming);
  const group = { group: certificatesGroup(naming), groupPriority: 17300 };
  return [
    { ...group, version: 'v1', versionPriority: 15, resources: v1 },
    { ...group, version: 'v1beta1', versionPriority: 12, resources: v1beta1 },
    { ...group, version: 'v1alpha1', versionPriority: 1, resources: v1alpha1 },
  ];
})
export class CertificatesGroup {}

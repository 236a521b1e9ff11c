import type { CertificateSigningRequest } from '../../catalog/types/certificates.v1.js';
import type { ClusterTrustBundle, PodCertificateRequest } from '../../catalog/types/certificates.v1beta1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { defineResource, otherVersion } from '../../registry/definition/resource-definition.js';
import { approvalSubresource, signingRequestStatusSubresource } from './signing-request.subresources.js';
import { signingRequestStrategy } from './signing-request.strategy.js';
import { signingRequestTable } from './signing-request.table.js';
import { trustBundleStrategy } from './trust-bundle.strategy.js';
import { trustBundleTable } from './trust-bundle.table.js';
import { podCertificateStatusSubresource, podCertificateStrategy } from './pod-certificate.strategy.js';
import { podCertificateTable } from './pod-certificate.table.js';

export const certificatesGroup = (naming: NamingProfile): string => naming.group('certificates');

type Signed = CertificateSigningRequest | ClusterTrustBundle | PodCertificateRequest;
const signerName = { 'spec.signerName': ({ spec }: Signed) => spec?.signerName ?? '' };

export function certificatesResources(naming: NamingProfile) {
  const group = certificatesGroup(naming);
  const trustBundles = defineResource({
    group,
    version: 'v1beta1',
    kind: 'ClusterTrustBundle',
    plural: 'clustertrustbundles',
    namespaced: false,
    selectableFields: signerName,
    strategy: trustBundleStrategy,
    table: trustBundleTable,
    allowsUnconditionalUpdate: false,
  });
  return {
    v1: [
      defineResource({
        group,
        version: 'v1',
        kind: 'CertificateSigningRequest',
        plural: 'certificatesigningrequests',
        shortNames: ['csr'],
        namespaced: false,
        selectableFields: signerName,
        strategy: signingRequestStrategy(naming),
        table: signingRequestTable,
        subresources: { approval: approvalSubresource, status: signingRequestStatusSubresource },
        resetFields: ['spec'],
      }),
    ],
    v1beta1: [
      trustBundles,
      defineResource({
        group,
        version: 'v1beta1',
        kind: 'PodCertificateRequest',
        plural: 'podcertificaterequests',
        namespaced: true,
        selectableFields: {
          ...signerName,
          'spec.podName': ({ spec }: PodCertificateRequest) => spec?.podName ?? '',
          'spec.nodeName': ({ spec }: PodCertificateRequest) => spec?.nodeName ?? '',
        },
        indexedFields: ['spec.nodeName'],
        strategy: podCertificateStrategy(naming),
        table: podCertificateTable,
        subresources: { status: podCertificateStatusSubresource },
        allowsUnconditionalUpdate: false,
      }),
    ],
    v1alpha1: [otherVersion(trustBundles, { version: 'v1alpha1' })],
  };
}

import type {
  CertificateSigningRequest,
  CertificateSigningRequestStatus,
} from '../../catalog/types/certificates.v1.js';
import type { ClusterTrustBundle, PodCertificateRequest } from '../../catalog/types/certificates.v1beta1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { ApiError } from '../../machinery/api-error.js';
import { fieldError, goQuote } from '../../machinery/field-error.js';
import type { GroupResource } from '../../machinery/gvk.js';
import { semanticEqual } from '../../machinery/semantic-equal.js';
import { privilegedGroup } from '../../machinery/user-info.js';
import { defineAdmissionPlugin, type AdmissionAttributes } from '../admission-plugin.js';
import { onlyCleanupChanges } from '../cleanup-changes.js';
import { parseRequest } from '../certificate-requests.js';
import { isAbout } from '../matching.js';
import type { PluginDependencies } from '../plugin-dependencies.js';
import { forbid } from '../refusal.js';
import { mayActFor } from '../signer-permissions.js';

/** Requires `approve` on the signer for updates of the approval subresource. */
export const certificateApproval = defineAdmissionPlugin({
  name: 'CertificateApproval',
  runs: 'by default',
  make: (dependencies) => ({
    resources: signingRequestsOf(dependencies),
    async validate(attributes) {
      if (!isUpdateOf(dependencies.naming, attributes, 'approval')) return;
      const signer = signerOf(attributes.old);
      if (await mayActFor(dependencies, attributes, 'approve', signer)) return;
      throw forbid(attributes, `user not permitted to approve requests with signerName ${goQuote(signer)}`);
    },
  }),
});

/** Requires `sign` on the signer for changes of status.certificate or status.conditions. */
export const certificateSigning = defineAdmissionPlugin({
  name: 'CertificateSigning',
  runs: 'by default',
  make: (dependencies) => ({
    resources: signingRequestsOf(dependencies),
    async validate(attributes) {
      if (!isUpdateOf(dependencies.naming, attributes, 'status')) return;
      const [status, before] = [statusOf(attributes.object), statusOf(attributes.old)];
      const fields = ['certificate', 'conditions'] as const;
      if (fields.every((field) => semanticEqual(status[field], before[field]))) return;
      const signer = signerOf(attributes.old);
      if (await mayActFor(dependencies, attributes, 'sign', signer)) return;
      throw forbid(attributes, `user not permitted to sign requests with signerName ${goQuote(signer)}`);
    },
  }),
});

/**
 * Refuses changes of a PodCertificateRequest's status by users without `sign` on its signer. Like the check in
 * kube-apiserver's strategy of the kind, it cannot be switched off and answers 422.
 */
export const podCertificateSigning = defineAdmissionPlugin({
  name: 'PodCertificateSigning',
  runs: 'always',
  make(dependencies) {
    const group = dependencies.naming.group('certificates');
    return {
      resources: [{ group, resource: 'podcertificaterequests' }],
      async validate(attributes) {
        if (!isAbout(attributes, group, 'podcertificaterequests', ['UPDATE'], 'status')) return;
        const { kind, name, request } = attributes;
        const object: PodCertificateRequest | undefined = attributes.object;
        const old: PodCertificateRequest | undefined = attributes.old;
        if (semanticEqual(object?.status, old?.status)) return;
        const signer = signerOf(old);
        if (await mayActFor(dependencies, attributes, 'sign', signer)) return;
        const message = `User ${goQuote(request.user.name)} is not permitted to "sign" for signer ${goQuote(signer)}`;
        throw ApiError.invalid({ group, kind }, name, [fieldError.forbidden('spec.signerName', message)]);
      },
    };
  },
});

/** Refuses requests for client certificates of the group system:masters, which would have all permissions. */
export const certificateSubjectRestriction = defineAdmissionPlugin({
  name: 'CertificateSubjectRestriction',
  runs: 'by default',
  make(dependencies) {
    const { naming } = dependencies;
    const clientSigner = naming.label(naming.systemName('apiserver-client'));
    const group = naming.group('certificates');
    return {
      resources: signingRequestsOf(dependencies),
      validate(attributes) {
        if (!isAbout(attributes, group, 'certificatesigningrequests', ['CREATE'])) return;
        if (signerOf(attributes.object) !== clientSigner) return;
        const { organizations } = parseRequest(attributes, 'failed to parse CSR');
        if (!organizations.includes(privilegedGroup)) return;
        throw forbid(attributes, `use of ${clientSigner} signer with ${privilegedGroup} group is not allowed`);
      },
    };
  },
});

/** Requires `attest` on the signer for writes of a ClusterTrustBundle that names a signer. */
export const clusterTrustBundleAttest = defineAdmissionPlugin({
  name: 'ClusterTrustBundleAttest',
  runs: 'by default',
  make(dependencies) {
    const group = dependencies.naming.group('certificates');
    return {
      resources: [{ group, resource: 'clustertrustbundles' }],
      async validate(attributes) {
        if (!isAbout(attributes, group, 'clustertrustbundles', ['CREATE', 'UPDATE'])) return;
        const signer = signerOf(attributes.object);
        // Changes of labels need the permission too, since labels select the bundles of a signer that are used.
        if (signer === '' || onlyCleanupChanges(attributes)) return;
        if (await mayActFor(dependencies, attributes, 'attest', signer)) return;
        throw forbid(attributes, `user not permitted to attest for signerName ${goQuote(signer)}`);
      },
    };
  },
});

const signingRequestsOf = ({ naming }: Pick<PluginDependencies, 'naming'>): readonly GroupResource[] => [
  { group: naming.group('certificates'), resource: 'certificatesigningrequests' },
];

function signerOf(object: CertificateSigningRequest | PodCertificateRequest | ClusterTrustBundle | undefined): string {
  return object?.spec?.signerName ?? '';
}

const statusOf = (request: CertificateSigningRequest | undefined): CertificateSigningRequestStatus =>
  request?.status ?? {};

const isUpdateOf = (naming: NamingProfile, attributes: AdmissionAttributes, updated: 'approval' | 'status'): boolean =>
  isAbout(attributes, naming.group('certificates'), 'certificatesigningrequests', ['UPDATE'], updated);

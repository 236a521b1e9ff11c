import { ApiError } from '../../machinery/api-error.js';
import { fieldError, goQuote } from '../../machinery/field-error.js';
import { asFields, asText } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { semanticEqual } from '../../machinery/semantic-equal.js';
import { privilegedGroup } from '../../machinery/user-info.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission-plugin.js';
import { onlyCleanupChanges } from '../cleanup-changes.js';
import { requestIn } from '../certificate-requests.js';
import { isAbout } from '../matching.js';
import type { PluginParts } from '../plugin-dependencies.js';
import { forbid } from '../refusal.js';
import { mayActFor } from '../signer-permissions.js';

type Parts = Pick<PluginParts, 'mayDo' | 'naming'>;

const signerOf = (object: KubeObject | undefined) => asText(asFields(object?.['spec'])['signerName']);

/** Who says whether a certificate is to be signed must be allowed to for its signer. */
export function certificateApproval(parts: Parts): AdmissionPlugin {
  return {
    name: 'CertificateApproval',
    async validate(attributes) {
      if (!isAboutRequest(parts, attributes, 'approval')) return;
      const signer = signerOf(attributes.old);
      if (await mayActFor(parts, attributes, 'approve', signer)) return;
      throw forbid(attributes, `user not permitted to approve requests with signerName ${goQuote(signer)}`);
    },
  };
}

/** Who puts the certificate in, or says that it cannot be had, must be allowed to for its signer. */
export function certificateSigning(parts: Parts): AdmissionPlugin {
  return {
    name: 'CertificateSigning',
    async validate(attributes) {
      if (!isAboutRequest(parts, attributes, 'status')) return;
      const { object, old } = attributes;
      if (['certificate', 'conditions'].every((field) => semanticEqual(statusOf(object)[field], statusOf(old)[field])))
        return;
      const signer = signerOf(old);
      if (await mayActFor(parts, attributes, 'sign', signer)) return;
      throw forbid(attributes, `user not permitted to sign requests with signerName ${goQuote(signer)}`);
    },
  };
}

/**
 * Refuses changes of a PodCertificateRequest's status by users without `sign` on its signer. Like the check in
 * kube-apiserver's strategy of the kind, it cannot be switched off and answers 422.
 */
export function podCertificateSigning(parts: Parts): AdmissionPlugin {
  const group = parts.naming.group('certificates');
  return {
    name: 'PodCertificateSigning',
    async validate(attributes) {
      const { resource, subresource, operation, object, old, kind, name, request } = attributes;
      if (resource.group !== group || resource.resource !== 'podcertificaterequests') return;
      if (subresource !== 'status' || operation !== 'UPDATE') return;
      if (semanticEqual(statusOf(object), statusOf(old))) return;
      const signer = signerOf(old);
      if (await mayActFor(parts, attributes, 'sign', signer)) return;
      const message = `User ${goQuote(request.user.name)} is not permitted to "sign" for signer ${goQuote(signer)}`;
      throw ApiError.invalid({ group, kind }, name, [fieldError.forbidden('spec.signerName', message)]);
    },
  };
}

/** Certificates for clients of this server do not make anybody almighty: such are made by who has the authority's key. */
export function certificateSubjectRestriction({ naming }: Pick<Parts, 'naming'>): AdmissionPlugin {
  const clientSigner = naming.label(naming.systemName('apiserver-client'));
  return {
    name: 'CertificateSubjectRestriction',
    validate(attributes) {
      const group = naming.group('certificates');
      if (!isAbout(attributes, group, 'certificatesigningrequests', ['CREATE'])) return;
      if (signerOf(attributes.object) !== clientSigner) return;
      const { organizations } = requestIn(attributes, 'failed to parse CSR');
      if (!organizations.includes(privilegedGroup)) return;
      throw forbid(attributes, `use of ${clientSigner} signer with ${privilegedGroup} group is not allowed`);
    },
  };
}

/** Who publishes a signer's trust anchors must be allowed to speak for it. */
export function clusterTrustBundleAttest(parts: Parts): AdmissionPlugin {
  return {
    name: 'ClusterTrustBundleAttest',
    async validate(attributes) {
      const group = parts.naming.group('certificates');
      if (!isAbout(attributes, group, 'clustertrustbundles', ['CREATE', 'UPDATE'])) return;
      const signer = signerOf(attributes.object);
      // Labels decide which bundles of a signer are used, so that they need the right as well.
      if (signer === '' || onlyCleanupChanges(attributes)) return;
      if (await mayActFor(parts, attributes, 'attest', signer)) return;
      throw forbid(attributes, `user not permitted to attest for signerName ${goQuote(signer)}`);
    },
  };
}

function isAboutRequest({ naming }: Parts, { resource, subresource, operation }: AdmissionAttributes, part: string) {
  return (
    resource.group === naming.group('certificates') &&
    resource.resource === 'certificatesigningrequests' &&
    subresource === part &&
    operation === 'UPDATE'
  );
}

const statusOf = (request: KubeObject | undefined) => asFields(request?.['status']);

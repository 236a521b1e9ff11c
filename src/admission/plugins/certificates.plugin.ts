import { parseCertificateRequest } from '../../certificates/certificate-request.js';
import { CertificateError } from '../../certificates/certificate-error.js';
import { pemBlocks } from '../../certificates/pem-blocks.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { goQuote } from '../../machinery/field-error.js';
import { asFields, asItems, asText } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { privilegedGroup } from '../../machinery/user-info.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission-plugin.js';
import { isAbout } from '../matching.js';
import type { PluginParts } from '../plugin-parts.js';
import { forbid } from '../refusal.js';
import { mayActFor } from '../signer-rights.js';

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
      if (deepEqual(signedIn(object), signedIn(old))) return;
      const signer = signerOf(old);
      if (await mayActFor(parts, attributes, 'sign', signer)) return;
      throw forbid(attributes, `user not permitted to sign requests with signerName ${goQuote(signer)}`);
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
      if (!organizationsIn(attributes.object).includes(privilegedGroup)) return;
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
      const { object, old } = attributes;
      const signer = signerOf(object);
      if (signer === '' || (old && deepEqual(object?.['spec'], old['spec']))) return;
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

/** What only the signer says: the certificate, and that there will be none. */
function signedIn(request: KubeObject | undefined) {
  const status = asFields(request?.['status']);
  const failures = asItems(status['conditions']).filter(({ type }) => type === 'Failed');
  return { certificate: asText(status['certificate']), failures };
}

/** A request that cannot be read is refused by the rules of its kind. */
function organizationsIn(request: KubeObject | undefined): readonly string[] {
  const text = Buffer.from(asText(asFields(request?.['spec'])['request']), 'base64').toString('latin1');
  try {
    const [block] = pemBlocks(text);
    return block ? parseCertificateRequest(block.bytes).organizations : [];
  } catch (error) {
    if (error instanceof CertificateError) return [];
    throw error;
  }
}

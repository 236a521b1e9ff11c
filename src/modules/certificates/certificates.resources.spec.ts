import { namingProfile } from '../../config/naming-profile.js';
import { hasWholeRows, linesOf, versionsOf } from '../../../test/harness/definitions.js';
import { certificatesResources } from './certificates.resources.js';

const { v1, v1beta1, v1alpha1 } = certificatesResources(namingProfile('kubernetes'));

it('the served resources, their names and their verbs', () => {
  const ofPods = 'spec.signerName,spec.podName,spec.nodeName';
  expect(linesOf([...v1, ...v1beta1])).toEqual([
    'certificatesigningrequests CertificateSigningRequest csr certificatesigningrequests approval,status spec.signerName --u-',
    'clustertrustbundles ClusterTrustBundle - clustertrustbundles - spec.signerName ----',
    `podcertificaterequests PodCertificateRequest - podcertificaterequests status ${ofPods} n---`,
  ]);
  expect(versionsOf([...v1beta1, ...v1alpha1])).toEqual([
    'clustertrustbundles@v1beta1',
    'podcertificaterequests@v1beta1',
    'clustertrustbundles@v1alpha1<v1beta1',
  ]);
  expect([...v1, ...v1beta1].every(hasWholeRows)).toBe(true);
});

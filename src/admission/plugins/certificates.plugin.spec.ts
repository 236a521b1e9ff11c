import { admitted, pluginParts } from '../../../test/harness/admission.js';
import { certificateRequest, derName, derString, pemBlock } from '../../../test/harness/distinguished-names.js';
import { requestPem } from '../../../test/harness/certificate-texts.js';
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  clusterTrustBundleAttest,
  podCertificateSigning,
} from './certificates.plugin.js';

/** For `O=system:masters, CN=joe`, made once with a key that nobody has any more. */
const mastersPem = `-----BEGIN CERTIFICATE REQUEST-----
MIHjMIGJAgEAMCcxFzAVBgNVBAoMDnN5c3RlbTptYXN0ZXJzMQwwCgYDVQQDDANq
b2UwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQrDGovhMtshhKTZ10vN2ZES1Xc
9kbKAUx+1Cq7Xf0FwaSiOHeWnHbbzQkSXsYn+273MzZK0AJj9Ne+fOx+hXxeoAAw
CgYIKoZIzj0EAwIDSQAwRgIhAKYcEKQ+UdUqVUAivJE/+aPnhwMYSlijQT1XGiQo
c0npAiEA4/KAR2XnEqa1l0mJc1aE4QN3fDRuwPxDlgkV9Z9Eckg=
-----END CERTIFICATE REQUEST-----
`;
const requests = 'certificates.k8s.io/certificatesigningrequests';
const signerName = 'example.com/serving';
const request = (status: object = {}) => ({ metadata: { name: 'r' }, spec: { signerName }, status });
const approved = request({ conditions: [{ type: 'Approved' }] });
const signed = request({ certificate: 'eA==' });
const failed = request({ conditions: [{ type: 'Failed' }] });

describe('CertificateApproval', () => {
  it.each([
    { name: 'with the right', rights: [`approve ${signerName}`], want: undefined },
    { name: 'with the right for the domain', rights: ['approve example.com/*'], want: undefined },
    {
      name: 'with another right',
      rights: [`sign ${signerName}`],
      want: 'user not permitted to approve requests with signerName "example.com/serving"',
    },
  ])('$name', async ({ rights, want }) => {
    const plugin = certificateApproval(pluginParts({ rights }));
    const write = { of: `${requests}/approval`, clusterWide: true, object: approved, old: request() };
    expect((await admitted(plugin, write)).refused).toBe(want);
  });

  it('is about approvals alone', async () => {
    const write = { of: `${requests}/status`, clusterWide: true, object: approved, old: request() };
    expect((await admitted(certificateApproval(pluginParts()), write)).refused).toBeUndefined();
  });
});

describe('CertificateSigning', () => {
  const refused = 'user not permitted to sign requests with signerName "example.com/serving"';
  it.each([
    { name: 'a certificate', object: signed, rights: [], want: refused },
    { name: 'a failure', object: failed, rights: [], want: refused },
    { name: 'a certificate, with the right', object: signed, rights: [`sign ${signerName}`], want: undefined },
    { name: 'any other condition', object: approved, rights: [], want: refused },
    {
      name: 'annotations alone',
      object: { ...request(), metadata: { name: 'r', annotations: { a: 'b' } } },
      rights: [],
      want: undefined,
    },
  ])('$name', async ({ object, rights, want }) => {
    const write = { of: `${requests}/status`, clusterWide: true, object, old: request() };
    expect((await admitted(certificateSigning(pluginParts({ rights })), write)).refused).toBe(want);
  });
});

describe('PodCertificateSigning', () => {
  const refused =
    'PodCertificateRequest.certificates.k8s.io "r" is invalid: spec.signerName: Forbidden: User "ann" is not permitted to "sign" for signer "example.com/serving"';
  const path = 'certificates.k8s.io/podcertificaterequests';
  const annotated = { ...request(), metadata: { name: 'r', annotations: { a: 'b' } } };
  it.each([
    { name: 'a certificate chain', object: signed, rights: [], want: refused },
    { name: 'a condition', object: failed, rights: [], want: refused },
    { name: 'a certificate chain, with the right', object: signed, rights: [`sign ${signerName}`], want: undefined },
    { name: 'a condition, with the domain right', object: failed, rights: ['sign example.com/*'], want: undefined },
    { name: 'a condition, with approve', object: failed, rights: [`approve ${signerName}`], want: refused },
    { name: 'an unchanged status', object: annotated, rights: [], want: undefined },
    { name: 'the request itself', of: path, object: signed, rights: [], want: undefined },
  ])('$name', async ({ of = `${path}/status`, object, rights, want }) => {
    const write = { of, object, old: request(), kind: 'PodCertificateRequest' };
    expect((await admitted(podCertificateSigning(pluginParts({ rights })), write)).refused).toBe(want);
  });
});

describe('CertificateSubjectRestriction', () => {
  const client = 'kubernetes.io/kube-apiserver-client';
  it.each([
    {
      name: 'who would be almighty',
      signer: client,
      pem: mastersPem,
      want: `use of ${client} signer with system:masters group is not allowed`,
    },
    { name: 'not of another group', signer: client, pem: requestPem, want: undefined },
    { name: 'not of another signer', signer: signerName, pem: mastersPem, want: undefined },
    {
      name: 'what cannot be read',
      signer: client,
      pem: 'x',
      want: 'failed to parse CSR: PEM block type must be CERTIFICATE REQUEST',
    },
    ...(['utf8', 'printable', 'teletex', 'ia5', 'bmp'] as const).map((type) => ({
      name: `who would be almighty in a string of type ${type}`,
      signer: client,
      pem: pemBlock(certificateRequest(derName(derString(type, 'system:masters')))),
      want: `use of ${client} signer with system:masters group is not allowed`,
    })),
    {
      name: 'a UniversalString',
      signer: client,
      pem: pemBlock(certificateRequest(derName(derString('universal', 'system:masters')))),
      want: 'failed to parse CSR: malformed distinguished name: a string is of the unsupported type 28',
    },
    {
      name: 'a first block with a header',
      signer: client,
      pem:
        pemBlock(certificateRequest(derName(derString('utf8', 'system:masters'))), undefined, 'a: b\n\n') + requestPem,
      want: 'failed to parse CSR: must contain exactly one PEM block',
    },
  ])('refuses $name', async ({ signer, pem, want }) => {
    const spec = { signerName: signer, request: Buffer.from(pem).toString('base64') };
    const write = { of: requests, clusterWide: true, object: { metadata: { name: 'r' }, spec } };
    expect((await admitted(certificateSubjectRestriction(pluginParts()), write)).refused).toBe(want);
  });
});

describe('ClusterTrustBundleAttest', () => {
  const bundle = (signer: string, trustBundle = 'x') => ({
    metadata: { name: 'b' },
    spec: { signerName: signer, trustBundle },
  });
  const refused = 'user not permitted to attest for signerName "example.com/serving"';
  it.each([
    { name: 'a bundle of a signer', object: bundle(signerName), old: undefined, rights: [], want: refused },
    {
      name: 'with the right',
      object: bundle(signerName),
      old: undefined,
      rights: ['attest example.com/*'],
      want: undefined,
    },
    { name: 'a bundle of nobody', object: bundle(''), old: undefined, rights: [], want: undefined },
    { name: 'only its metadata', object: bundle(signerName), old: bundle(signerName), rights: [], want: undefined },
    { name: 'its content', object: bundle(signerName, 'y'), old: bundle(signerName), rights: [], want: refused },
  ])('$name', async ({ object, old, rights, want }) => {
    const plugin = clusterTrustBundleAttest(pluginParts({ rights }));
    const write = { of: 'certificates.k8s.io/clustertrustbundles', clusterWide: true, object, ...(old && { old }) };
    expect((await admitted(plugin, write)).refused).toBe(want);
  });
});

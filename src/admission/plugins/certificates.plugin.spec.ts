import { admitted, hooksOf } from '../../../test/harness/admission.js';
import { certificateRequest, derName, derString, pemBlock } from '../../../test/harness/distinguished-names.js';
import { requestPem } from '../../../test/harness/certificate-texts.js';
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  clusterTrustBundleAttest,
  podCertificateSigning,
} from './certificates.plugin.js';

/** A request for `O=system:masters, CN=joe`; its private key was not kept. */
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
    { name: 'accepts a user with approve on the signer', permissions: [`approve ${signerName}`], want: undefined },
    {
      name: 'accepts a user with approve on the domain of the signer',
      permissions: ['approve example.com/*'],
      want: undefined,
    },
    {
      name: 'refuses a user with sign only',
      permissions: [`sign ${signerName}`],
      want: 'user not permitted to approve requests with signerName "example.com/serving"',
    },
  ])('$name', async ({ permissions, want }) => {
    const plugin = hooksOf(certificateApproval, { permissions });
    const write = { of: `${requests}/approval`, clusterWide: true, object: approved, old: request() };
    expect((await admitted(plugin, write)).refused).toBe(want);
  });

  it('does not check updates of the status', async () => {
    const write = { of: `${requests}/status`, clusterWide: true, object: approved, old: request() };
    expect((await admitted(hooksOf(certificateApproval), write)).refused).toBeUndefined();
  });
});

describe('CertificateSigning', () => {
  const refused = 'user not permitted to sign requests with signerName "example.com/serving"';
  it.each([
    { name: 'refuses a certificate without sign', object: signed, permissions: [], want: refused },
    { name: 'refuses a Failed condition without sign', object: failed, permissions: [], want: refused },
    { name: 'accepts a certificate with sign', object: signed, permissions: [`sign ${signerName}`], want: undefined },
    { name: 'refuses any other condition without sign', object: approved, permissions: [], want: refused },
    {
      name: 'accepts changes of annotations',
      object: { ...request(), metadata: { name: 'r', annotations: { a: 'b' } } },
      permissions: [],
      want: undefined,
    },
  ])('$name', async ({ object, permissions, want }) => {
    const write = { of: `${requests}/status`, clusterWide: true, object, old: request() };
    expect((await admitted(hooksOf(certificateSigning, { permissions }), write)).refused).toBe(want);
  });
});

describe('PodCertificateSigning', () => {
  const refused =
    'PodCertificateRequest.certificates.k8s.io "r" is invalid: spec.signerName: Forbidden: User "ann" is not permitted to "sign" for signer "example.com/serving"';
  const path = 'certificates.k8s.io/podcertificaterequests';
  const annotated = { ...request(), metadata: { name: 'r', annotations: { a: 'b' } } };
  it.each([
    { name: 'refuses a certificate chain without sign', object: signed, permissions: [], want: refused },
    { name: 'refuses a condition without sign', object: failed, permissions: [], want: refused },
    {
      name: 'accepts a certificate chain with sign',
      object: signed,
      permissions: [`sign ${signerName}`],
      want: undefined,
    },
    {
      name: 'accepts a condition with sign on the domain',
      object: failed,
      permissions: ['sign example.com/*'],
      want: undefined,
    },
    {
      name: 'refuses a condition with approve only',
      object: failed,
      permissions: [`approve ${signerName}`],
      want: refused,
    },
    { name: 'accepts an unchanged status', object: annotated, permissions: [], want: undefined },
    {
      name: 'does not check updates of the request itself',
      of: path,
      object: signed,
      permissions: [],
      want: undefined,
    },
  ])('$name', async ({ of = `${path}/status`, object, permissions, want }) => {
    const write = { of, object, old: request(), kind: 'PodCertificateRequest' };
    expect((await admitted(hooksOf(podCertificateSigning, { permissions }), write)).refused).toBe(want);
  });
});

describe('CertificateSubjectRestriction', () => {
  const client = 'kubernetes.io/kube-apiserver-client';
  it.each([
    {
      name: 'the group system:masters',
      signer: client,
      pem: mastersPem,
      want: `use of ${client} signer with system:masters group is not allowed`,
    },
    { name: 'no request for another group', signer: client, pem: requestPem, want: undefined },
    { name: 'no request for another signer', signer: signerName, pem: mastersPem, want: undefined },
    {
      name: 'a request that cannot be parsed',
      signer: client,
      pem: 'x',
      want: 'failed to parse CSR: PEM block type must be CERTIFICATE REQUEST',
    },
    ...(['utf8', 'printable', 'teletex', 'ia5', 'bmp'] as const).map((type) => ({
      name: `the group system:masters in a string of type ${type}`,
      signer: client,
      pem: pemBlock(certificateRequest(derName(derString(type, 'system:masters')))),
      want: `use of ${client} signer with system:masters group is not allowed`,
    })),
    {
      name: 'a group in a UniversalString',
      signer: client,
      pem: pemBlock(certificateRequest(derName(derString('universal', 'system:masters')))),
      want: 'failed to parse CSR: malformed distinguished name: a string has the unsupported type 28',
    },
    {
      name: 'a PEM block with headers before another block',
      signer: client,
      pem:
        pemBlock(certificateRequest(derName(derString('utf8', 'system:masters'))), undefined, 'a: b\n\n') + requestPem,
      want: 'failed to parse CSR: must contain exactly one PEM block',
    },
  ])('refuses $name', async ({ signer, pem, want }) => {
    const spec = { signerName: signer, request: Buffer.from(pem).toString('base64') };
    const write = { of: requests, clusterWide: true, object: { metadata: { name: 'r' }, spec } };
    expect((await admitted(hooksOf(certificateSubjectRestriction), write)).refused).toBe(want);
  });
});

describe('ClusterTrustBundleAttest', () => {
  const bundle = (signer: string, trustBundle = 'x') => ({
    metadata: { name: 'b' },
    spec: { signerName: signer, trustBundle },
  });
  const refused = 'user not permitted to attest for signerName "example.com/serving"';
  it.each([
    {
      name: 'refuses a bundle of a signer without attest',
      object: bundle(signerName),
      old: undefined,
      permissions: [],
      want: refused,
    },
    {
      name: 'accepts a bundle with attest on the domain of the signer',
      object: bundle(signerName),
      old: undefined,
      permissions: ['attest example.com/*'],
      want: undefined,
    },
    { name: 'accepts a bundle without a signer', object: bundle(''), old: undefined, permissions: [], want: undefined },
    {
      name: 'accepts an update without changes',
      object: bundle(signerName),
      old: bundle(signerName),
      permissions: [],
      want: undefined,
    },
    {
      name: 'refuses a changed bundle without attest',
      object: bundle(signerName, 'y'),
      old: bundle(signerName),
      permissions: [],
      want: refused,
    },
  ])('$name', async ({ object, old, permissions, want }) => {
    const plugin = hooksOf(clusterTrustBundleAttest, { permissions });
    const write = { of: 'certificates.k8s.io/clustertrustbundles', clusterWide: true, object, ...(old && { old }) };
    expect((await admitted(plugin, write)).refused).toBe(want);
  });
});

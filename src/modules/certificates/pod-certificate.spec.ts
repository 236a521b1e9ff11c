import { namingProfile } from '../../config/naming-profile.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import {
  authorityPem,
  leafPem,
  podRequestSpec,
  podUidSignature,
  publicKeyBase64,
  requestPem,
} from '../../../test/harness/certificate-texts.js';
import { prepared, refusals, testContext, texts, updateRefusals } from '../../../test/harness/strategies.js';
import { pemBlocks } from '../../certificates/pem-blocks.js';
import { podCertificateStatusSubresource, podCertificateStrategy } from './pod-certificate.strategy.js';
import { podCertificateTable } from './pod-certificate.table.js';

const strategy = podCertificateStrategy(namingProfile('kubernetes'));
const stub = pemBlocks(requestPem)[0]!.bytes;
const forged = Buffer.from(stub);
forged[forged.indexOf('joe')] = 'd'.charCodeAt(0);
const request = (spec: object = {}, status: object = {}): KubeObject => ({
  kind: 'PodCertificateRequest',
  apiVersion: 'certificates.k8s.io/v1beta1',
  metadata: { name: 'r' },
  spec: {
    ...podRequestSpec,
    maxExpirationSeconds: 86400,
    ...spec,
  },
  status,
});
const plain = { stubPKCS10Request: '', pkixPublicKey: publicKeyBase64, proofOfPossession: podUidSignature };

it.each<[string, object, string[]]>([
  ['a request', {}, []],
  ['a key and its proof', plain, []],
  ['no uid', { nodeUID: '' }, ['spec.nodeUID: Required value: must not be empty']],
  [
    'a lifetime of less than an hour',
    { maxExpirationSeconds: 3599 },
    ['spec.maxExpirationSeconds: Invalid value: 3599: must be in the range [3600, 7862400]'],
  ],
  [
    'a lifetime of more than a day from a signer of Kubernetes',
    { maxExpirationSeconds: 86401, signerName: 'kubernetes.io/kube-apiserver-client-pod' },
    ['spec.maxExpirationSeconds: Invalid value: 86401: must be in the range [3600, 86400]'],
  ],
  [
    'an annotation without a domain',
    { unverifiedUserAnnotations: { a: 'b', 'example.com/a': 'b' } },
    ['spec.unverifiedUserAnnotations: Invalid value: "a": must be domain-prefixed, such as "acme.io/foo"'],
  ],
  [
    'a stub request and a public key',
    { pkixPublicKey: publicKeyBase64 },
    ['spec.pkixPublicKey: Forbidden: must be empty when stubPKCS10Request is set'],
  ],
  [
    'a stub request that is not DER',
    { stubPKCS10Request: 'eA==' },
    [
      'spec.stubPKCS10Request: Invalid value: "<stub request>": must be a valid DER-serialized PKCS#10 certificate signing request',
    ],
  ],
  [
    'a stub request with a wrong signature',
    { stubPKCS10Request: forged.toString('base64') },
    ['spec.stubPKCS10Request: Invalid value: "<stub request>": must be signed by the key that it contains'],
  ],
  [
    'an invalid public key',
    { ...plain, pkixPublicKey: '' },
    ['spec.pkixPublicKey: Invalid value: "<public key>": must be a valid PKIX-serialized public key'],
  ],
  [
    'the proof of another pod',
    { ...plain, podUID: 'other' },
    ['spec.proofOfPossession: Invalid value: "<proof of possession>": could not verify proof-of-possession signature'],
  ],
])('validates the spec: %s', (_name, spec, want) => expect(refusals(strategy, request(spec))).toEqual(want));

it('maxExpirationSeconds defaults to a day', () =>
  expect(prepared(strategy, request({ maxExpirationSeconds: undefined }))['spec']).toMatchObject({
    maxExpirationSeconds: 86400,
  }));

it('spec is immutable', () =>
  expect(updateRefusals(strategy, request({ podName: 'q' }), request())[0]).toMatch(/^spec: .*field is immutable$/));

const ended = (type: string) => ({
  conditions: [{ type, status: 'True', reason: 'R', lastTransitionTime: '2026-01-01T00:00:00Z' }],
});
const issued = {
  ...ended('Issued'),
  certificateChain: leafPem + authorityPem,
  notBefore: '2026-01-01T00:00:00Z',
  beginRefreshAt: '2026-01-01T12:00:00Z',
  notAfter: '2026-01-02T00:00:00Z',
};

it.each<[string, object, object, string[]]>([
  ['issued', issued, {}, []],
  ['denied', ended('Denied'), {}, []],
  [
    'issued and denied',
    { conditions: [...ended('Denied').conditions, ...ended('Failed').conditions] },
    {},
    [
      'status.conditions: Invalid value: "Failed": There may be at most one condition with type "Issued", "Denied", or "Failed"',
    ],
  ],
  [
    'denied with a certificate',
    { ...issued, ...ended('Denied') },
    {},
    ['certificateChain', 'notBefore', 'beginRefreshAt', 'notAfter'].map(
      (field) => `status.${field}: Forbidden: may only be set together with the condition "Issued"`,
    ),
  ],
  [
    'issued without a certificate',
    ended('Issued'),
    {},
    ['certificateChain', 'notBefore', 'beginRefreshAt', 'notAfter'].map((field) => `status.${field}: Required value`),
  ],
  [
    'issued with an invalid chain',
    { ...issued, certificateChain: requestPem },
    {},
    ['status.certificateChain: Invalid value: "<certificate chain>": must consist of PEM blocks that are certificates'],
  ],
  [
    'times that differ from the leaf certificate',
    { ...issued, notAfter: '2026-01-01T23:00:00Z' },
    {},
    ['status.notAfter: Invalid value: "2026-01-01T23:00:00Z": must be that of the leaf certificate'],
  ],
  [
    'a late refresh',
    { ...issued, beginRefreshAt: '2026-01-01T23:55:00Z' },
    {},
    [
      'status.beginRefreshAt: Invalid value: "2026-01-01T23:55:00Z": must be at least 10 minutes before status.notAfter',
    ],
  ],
  [
    'a change of an ended request',
    ended('Denied'),
    issued,
    ['status: Forbidden: immutable once the request has been issued, denied or has failed'],
  ],
])('validates a status update: %s', (_name, status, before, want) =>
  expect(
    texts(podCertificateStatusSubresource.validate!(request({}, status), request({}, before), testContext)),
  ).toEqual(want),
);

it('a certificate that lives longer than maxExpirationSeconds is refused', () =>
  expect(
    texts(
      podCertificateStatusSubresource.validate!(
        request({ maxExpirationSeconds: 7200 }, issued),
        request({ maxExpirationSeconds: 7200 }),
        testContext,
      ),
    ),
  ).toEqual([
    'status.certificateChain: Invalid value: "<certificate chain>": leaf certificate lifetime must be >= 1 hour and <= spec.maxExpirationSeconds (7200)',
  ]));

it.each<[object, string]>([
  [{}, 'Pending'],
  [issued, 'Issued'],
])('the table row of status %#', (status, state) =>
  expect(podCertificateTable.cells(request({}, status), { nowMs: 0 })).toEqual([
    ...['r', 'p', 'default', 'n', 'example.com/s', state, '<unknown>'],
  ]),
);

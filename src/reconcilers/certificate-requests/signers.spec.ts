import { derTags, requestDer, type RequestParts } from '../../../test/harness/certificate-requests.js';
import { requestedCertificate } from '../../certificates/requested-certificate.js';
import { namingProfile } from '../../config/naming-profile.js';
import { refusalOf, signerKindOf, type SignerKind } from './signers.js';

const node: RequestParts = { subject: [['O', 'system:nodes'], ['CN', 'system:node:n']] }; // prettier-ignore
const other: RequestParts = { subject: [['O', 'dev'], ['CN', 'joe']] }; // prettier-ignore
const dns: RequestParts['names'] = [[derTags.dns, 'n']];
const client = ['digital signature', 'key encipherment', 'client auth'];
const server = ['digital signature', 'key encipherment', 'server auth'];

it.each<[SignerKind, string, RequestParts, string[], string | undefined]>([
  ['apiServerClient', 'a user', other, client, undefined],
  ['apiServerClient', 'client auth alone', other, ['client auth'], undefined],
  [
    'apiServerClient',
    'no client auth',
    other,
    ['digital signature'],
    'missing required usage for client certificate: client auth',
  ],
  [
    'apiServerClient',
    'server auth',
    other,
    [...client, 'server auth'],
    'invalid usage for client certificate: server auth',
  ],
  ['apiServerClient', 'cert sign', other, [...client, 'cert sign'], 'invalid usage for client certificate: cert sign'],
  ['apiServerClient', 'any', other, [...client, 'any'], 'invalid usage for client certificate: any'],
  [
    'apiServerClient',
    'an administrator',
    { subject: [['O', 'system:masters']] },
    client,
    'certificates for the group system:masters are not signed',
  ],
  ['kubeletClient', 'a node', node, client, undefined],
  ['kubeletClient', 'a node without RSA', node, ['digital signature', 'client auth'], undefined],
  ['kubeletClient', 'another user', other, client, 'subject organization is not system:nodes'],
  [
    'kubeletClient',
    'two groups',
    { subject: [...node.subject, ['O', 'dev']] },
    client,
    'subject organization is not system:nodes',
  ],
  [
    'kubeletClient',
    'another name',
    {
      subject: [
        ['O', 'system:nodes'],
        ['CN', 'joe'],
      ],
    },
    client,
    'subject common name does not begin with system:node:',
  ],
  ['kubeletClient', 'a DNS name', { ...node, names: dns }, client, 'DNS subjectAltNames are not allowed'],
  [
    'kubeletClient',
    'an email',
    { ...node, names: [[derTags.email, 'a@b']] },
    client,
    'Email subjectAltNames are not allowed',
  ],
  [
    'kubeletClient',
    'an IP',
    { ...node, names: [[derTags.ip, Buffer.alloc(4)]] },
    client,
    'IP subjectAltNames are not allowed',
  ],
  [
    'kubeletClient',
    'a URI',
    { ...node, names: [[derTags.uri, 'a://b']] },
    client,
    'URI subjectAltNames are not allowed',
  ],
  [
    'kubeletClient',
    'usages of a server',
    node,
    server,
    'usages did not match [client auth digital signature key encipherment]',
  ],
  ['kubeletServing', 'a node', { ...node, names: dns }, server, undefined],
  ['kubeletServing', 'no names', node, server, 'DNS or IP subjectAltName is required'],
  ['kubeletServing', 'a user', { ...other, names: dns }, server, 'subject organization is not system:nodes'],
  [
    'kubeletServing',
    'a client',
    { ...node, names: dns },
    client,
    'usages did not match [digital signature key encipherment server auth]',
  ],
  [
    'kubeletServing',
    'both usages',
    { ...node, names: dns },
    [...server, 'client auth'],
    'usages did not match [digital signature key encipherment server auth]',
  ],
  ['legacyUnknown', 'anybody', { ...other, names: dns }, server, undefined],
  [
    'legacyUnknown',
    'an administrator',
    { subject: [['O', 'system:masters']] },
    server,
    'certificates for the group system:masters are not signed',
  ],
])('%s: %s', (kind, _what, parts, usages, want) =>
  // prettier-ignore
  expect(refusalOf(kind, requestedCertificate(requestDer(parts)), usages)).toBe(want),
);

it.each([
  ['kubernetes.io/kube-apiserver-client', 'apiServerClient'],
  ['kubernetes.io/kube-apiserver-client-kubelet', 'kubeletClient'],
  ['kubernetes.io/kubelet-serving', 'kubeletServing'],
  ['kubernetes.io/legacy-unknown', 'legacyUnknown'],
  ['example.com/mine', undefined],
  ['kubernetes.io/toString', undefined],
])('the signer %s is %s', (name, want) => expect(signerKindOf(name, namingProfile('kubernetes'))).toBe(want));

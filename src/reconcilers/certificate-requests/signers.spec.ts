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
  ['apiServerClient', 'a user name', other, client, undefined],
  ['apiServerClient', 'client auth only', other, ['client auth'], undefined],
  [
    'apiServerClient',
    'no usage client auth',
    other,
    ['digital signature'],
    'missing required usage for client certificate: client auth',
  ],
  [
    'apiServerClient',
    'usage server auth',
    other,
    [...client, 'server auth'],
    'invalid usage for client certificate: server auth',
  ],
  [
    'apiServerClient',
    'usage cert sign',
    other,
    [...client, 'cert sign'],
    'invalid usage for client certificate: cert sign',
  ],
  ['apiServerClient', 'usage any', other, [...client, 'any'], 'invalid usage for client certificate: any'],
  [
    'apiServerClient',
    'the group system:masters',
    { subject: [['O', 'system:masters']] },
    client,
    'certificates for the group system:masters are not signed',
  ],
  ['kubeletClient', 'the name of a node', node, client, undefined],
  [
    'kubeletClient',
    'the name of a node, without key encipherment',
    node,
    ['digital signature', 'client auth'],
    undefined,
  ],
  ['kubeletClient', 'the name of a user', other, client, 'subject organization is not system:nodes'],
  [
    'kubeletClient',
    'two groups',
    { subject: [...node.subject, ['O', 'dev']] },
    client,
    'subject organization is not system:nodes',
  ],
  [
    'kubeletClient',
    'a name without system:node:',
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
    'usage server auth',
    node,
    server,
    'usages did not match [client auth digital signature key encipherment]',
  ],
  ['kubeletServing', 'a DNS name', { ...node, names: dns }, server, undefined],
  ['kubeletServing', 'no subjectAltName', node, server, 'DNS or IP subjectAltName is required'],
  [
    'kubeletServing',
    'the name of a user',
    { ...other, names: dns },
    server,
    'subject organization is not system:nodes',
  ],
  [
    'kubeletServing',
    'usage client auth',
    { ...node, names: dns },
    client,
    'usages did not match [digital signature key encipherment server auth]',
  ],
  [
    'kubeletServing',
    'usages server auth and client auth',
    { ...node, names: dns },
    [...server, 'client auth'],
    'usages did not match [digital signature key encipherment server auth]',
  ],
  ['legacyUnknown', 'any name', { ...other, names: dns }, server, undefined],
  [
    'legacyUnknown',
    'the group system:masters',
    { subject: [['O', 'system:masters']] },
    server,
    'certificates for the group system:masters are not signed',
  ],
])('%s signs a request with %s, or refuses with the reason', (kind, _what, parts, usages, want) =>
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
])('the signer kind of %s: %s', (name, want) => expect(signerKindOf(name, namingProfile('kubernetes'))).toBe(want));

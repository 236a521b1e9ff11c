import type { KubeObject } from '../../machinery/kube-object.js';
import { authorityPem, leafPem, requestPem } from '../../../test/harness/certificate-texts.js';
import { refusals, updateRefusals } from '../../../test/harness/strategies.js';
import { trustBundleStrategy } from './trust-bundle.strategy.js';
import { trustBundleTable } from './trust-bundle.table.js';

const bundle = (name: string, spec: object): KubeObject => ({
  kind: 'ClusterTrustBundle',
  apiVersion: 'certificates.k8s.io/v1beta1',
  metadata: { name },
  spec: { trustBundle: authorityPem, ...spec },
});
const signerName = 'example.com/s';
const withHeader = authorityPem.replace('-----\n', '-----\nA: b\n\n');
const refusal = (message: string) => `spec.trustBundle: Invalid value: "<value omitted>": ${message}`;

it.each<[string, KubeObject, string[]]>([
  ['no signer', bundle('b', {}), []],
  ['a signer', bundle('example.com:s:b', { signerName }), []],
  [
    'no signer and a colon in the name',
    bundle('example.com:s:b', {}),
    [
      'metadata.name: Invalid value: "example.com:s:b": ClusterTrustBundle without signer name must not have ":" in its name',
    ],
  ],
  [
    'a name with the prefix of another signer',
    bundle('example.org:s:b', { signerName }),
    [
      'metadata.name: Invalid value: "example.org:s:b": ClusterTrustBundle for signerName example.com/s must be named with prefix example.com:s:',
    ],
  ],
  ['no trust anchor', bundle('b', { trustBundle: '' }), [refusal('at least one trust anchor must be provided')]],
  [
    'a PEM block of another type',
    bundle('b', { trustBundle: requestPem }),
    [refusal('entry 0 has bad block type: CERTIFICATE REQUEST')],
  ],
  ['PEM headers', bundle('b', { trustBundle: withHeader }), [refusal('entry 0 has PEM block headers')]],
  [
    'an invalid certificate',
    bundle('b', { trustBundle: '-----BEGIN CERTIFICATE-----\neA==\n-----END CERTIFICATE-----\n' }),
    [refusal('entry 0 does not parse as X.509')],
  ],
  [
    'a certificate that is not a CA',
    bundle('b', { trustBundle: authorityPem + leafPem }),
    [refusal('entry 1 does not have the CA bit set')],
  ],
  [
    'one trust anchor twice',
    bundle('b', { trustBundle: authorityPem + authorityPem }),
    [refusal('duplicate trust anchor (indices [0 1])')],
  ],
  [
    'more than 1 MiB',
    bundle('b', { trustBundle: 'x'.repeat(1024 * 1024 + 1) }),
    ['spec.trustBundle: Too long: may not be more than 1048576 bytes'],
  ],
])('a bundle with %s is validated', (_name, object, want) =>
  expect(refusals(trustBundleStrategy, object)).toEqual(want),
);

it('spec.signerName is immutable', () =>
  expect(
    updateRefusals(
      trustBundleStrategy,
      bundle('example.com:s:b', { signerName }),
      bundle('example.com:s:b', { signerName: 'example.com/t' }),
    ),
  ).toEqual(['spec.signerName: Invalid value: "example.com/s": field is immutable']));

it.each([
  [{}, '<none>'],
  [{ signerName }, signerName],
])('the table row of spec %j', (spec, want) =>
  expect(trustBundleTable.cells(bundle('b', spec), { nowMs: 0 })).toEqual(['b', want]),
);

import { namingProfile } from '../../config/naming-profile.js';
import type { Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { leafPem, requestPem } from '../../../test/harness/certificate-texts.js';
import {
  prepared,
  prepareUpdate,
  refusals,
  testContext,
  texts,
  updateRefusals,
} from '../../../test/harness/strategies.js';
import type { ViewSubresource } from '../../registry/definition/resource-definition.js';
import { approvalSubresource, signingRequestStatusSubresource } from './signing-request.subresources.js';
import { signingRequestStrategy } from './signing-request.strategy.js';
import { signingRequestTable } from './signing-request.table.js';

const strategy = signingRequestStrategy(namingProfile('kubernetes'));
const base64 = (text: string) => Buffer.from(text).toString('base64');
const request = (spec: object, status: object = {}): KubeObject => ({
  kind: 'CertificateSigningRequest',
  apiVersion: 'certificates.k8s.io/v1',
  metadata: { name: 'c' },
  spec: { request: base64(requestPem), signerName: 'example.com/s', usages: ['client auth'], ...spec },
  status,
});
const noPem = 'PEM block type must be CERTIFICATE REQUEST';

it.each<[string, object, string[]]>([
  ['a request', { expirationSeconds: 600 }, []],
  ['no request', { request: '' }, [`spec.request: Invalid value: null: ${noPem}`]],
  ['no PEM', { request: 'eA==' }, [`spec.request: Invalid value: "eA==": ${noPem}`]],
  ['no signer', { signerName: '' }, ['spec.signerName: Required value']],
  [
    'a signer without a domain',
    { signerName: 'nodomain' },
    [
      `spec.signerName: Invalid value: "nodomain": must be a fully qualified domain and path of the form 'example.com/signer-name'`,
    ],
  ],
  [
    'a domain of one label',
    { signerName: 'example/s' },
    ['spec.signerName: Invalid value: "example": should be a domain with at least two segments separated by dots'],
  ],
  [
    'the legacy signer',
    { signerName: 'kubernetes.io/legacy-unknown' },
    [
      'spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version',
    ],
  ],
  ['no usages', { usages: [] }, ['spec.usages: Required value']],
  ['a usage twice', { usages: ['any', 'any'] }, ['spec.usages[1]: Duplicate value: "any"']],
  [
    'a lifetime of less than 10 minutes',
    { expirationSeconds: 599 },
    ['spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)'],
  ],
])('a request with %s is validated', (_name, spec, want) => expect(refusals(strategy, request(spec))).toEqual(want));

it.each<[object, string]>([
  [{ request: base64('-----BEGIN CERTIFICATE REQUEST-----\neA==\n-----END CERTIFICATE REQUEST-----') }, 'malformed'],
  [{ request: base64(requestPem.replace('vqSZV', 'vqSZW')) }, 'x509: ECDSA verification failure'],
  [{ signerName: 'example.com/A_' }, 'spec.signerName: Invalid value: "A_": validating label "A_": '],
  [{ usages: ['magic'] }, 'spec.usages[0]: Unsupported value: "magic": supported values: "any", "cert sign"'],
])('invalid PKCS#10 request %# is refused', (spec, want) =>
  expect(refusals(strategy, request(spec))[0]).toContain(want),
);

it('create sets the requester from the authenticated user', () => {
  const created = prepared(
    strategy,
    request({ username: 'root', groups: ['system:masters'], extra: { a: ['b'] } }, { a: 1 }),
  );
  expect(created['spec']).toEqual({ ...(request({})['spec'] as object), username: 'tester' });
  expect(created['status']).toEqual({});
});

it('update keeps spec and status', () => {
  const old = request({});
  const changed = request({ signerName: 'example.com/other' }, { certificate: 'eA==' });
  expect(updateRefusals(strategy, changed, old)).toEqual([]);
  prepareUpdate(strategy, changed, old);
  expect(changed).toEqual(old);
});

const decided = (type: string, rest: object = {}) => ({ type, status: 'True', reason: 'R', ...rest });
const times = { lastUpdateTime: '2020-01-01T00:00:00Z', lastTransitionTime: '2020-01-01T00:00:00Z' };

/** Returns the status and the errors of a write through a subresource. */
function write(subresource: ViewSubresource, before: object, status: object): { status: Fields; errors: string[] } {
  const old = request({}, before);
  const object = subresource.put(old, request({ signerName: 'example.com/other' }, status));
  subresource.prepare?.(object, old, testContext);
  expect(object['spec']).toEqual(old['spec']);
  return {
    status: object['status'] as Fields,
    errors: texts(subresource.validate!(object, old, testContext)),
  };
}

describe('approval', () => {
  it.each<[string, object, object[], string[]]>([
    ['approved', {}, [decided('Approved')], []],
    ['another type', {}, [decided('Example', { status: 'Unknown' })], []],
    [
      'approved and denied',
      {},
      [decided('Approved'), decided('Denied')],
      ['status.conditions: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive'],
    ],
    [
      'not approved',
      {},
      [decided('Approved', { status: 'False' })],
      ['status.conditions[0].status: Unsupported value: "False": supported values: "True"'],
    ],
    ['no type', {}, [{ status: 'True' }], ['status.conditions[0].type: Required value']],
    ['no status', {}, [{ type: 'Example' }], ['status.conditions[0].status: Required value']],
    [
      'approved twice',
      {},
      [decided('Approved'), decided('Approved')],
      ['status.conditions[1].type: Duplicate value: "Approved"'],
    ],
    [
      'a removed denial',
      { conditions: [decided('Denied', times)] },
      [],
      ['status.conditions: Forbidden: updates may not remove a condition of type "Denied"'],
    ],
  ])('conditions are validated: %s', (_name, before, conditions, want) =>
    expect(write(approvalSubresource, before, { conditions }).errors).toEqual(want),
  );

  it('a write sets conditions and their times and keeps the certificate', () => {
    const certificate = base64(leafPem);
    const { status } = write(approvalSubresource, { certificate }, { conditions: [decided('Approved')] });
    const { now } = testContext;
    expect(status).toEqual({
      certificate,
      conditions: [decided('Approved', { lastUpdateTime: now, lastTransitionTime: now })],
    });
  });

  it('a write keeps lastTransitionTime of an unchanged status', () => {
    const { status } = write(
      approvalSubresource,
      { conditions: [decided('Approved', times)] },
      { conditions: [decided('Approved', { reason: 'Other' })] },
    );
    expect(status['conditions']).toMatchObject([{ lastTransitionTime: times.lastTransitionTime, reason: 'Other' }]);
  });
});

describe('status', () => {
  const approved = { conditions: [decided('Approved', times)] };
  const signed = { ...approved, certificate: base64(leafPem) };

  it.each<[string, object, object, string[]]>([
    ['signed', approved, signed, []],
    ['failed', approved, { conditions: [...approved.conditions, decided('Failed')] }, []],
    [
      'an added approval',
      {},
      approved,
      ['status.conditions: Forbidden: updates may not add a condition of type "Approved"'],
    ],
    [
      'a modified approval',
      approved,
      { conditions: [decided('Approved', { ...times, reason: 'Other' })] },
      ['status.conditions: Forbidden: updates may not modify a condition of type "Approved"'],
    ],
    [
      'a certificate that is not PEM',
      approved,
      { ...approved, certificate: 'eA==' },
      ['status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block'],
    ],
    [
      'a PEM block of another type',
      approved,
      { ...approved, certificate: base64(requestPem) },
      [
        'status.certificate: Invalid value: "<certificate data>": only CERTIFICATE PEM blocks are allowed, found "CERTIFICATE REQUEST"',
      ],
    ],
    [
      'another certificate',
      signed,
      { ...approved, certificate: base64(leafPem + leafPem) },
      ['status.certificate: Forbidden: updates may not modify existing certificate content'],
    ],
  ])('a status is validated: %s', (_name, before, status, want) =>
    expect(write(signingRequestStatusSubresource, before, status).errors).toEqual(want),
  );
});

it.each<[object, object, string[]]>([
  [{}, {}, ['<none>', 'Pending']],
  [{ expirationSeconds: 3600 }, { conditions: [decided('Approved')], certificate: 'eA==' }, ['60m', 'Approved,Issued']],
  [{}, { conditions: [decided('Denied'), decided('Failed')] }, ['<none>', 'Denied,Failed']],
])('the table row of spec %j, status %j', (spec, status, [duration, condition]) =>
  expect(signingRequestTable.cells(request({ ...spec, username: 'joe' }, status), { nowMs: 0 })).toEqual([
    ...['c', '<unknown>', 'example.com/s', 'joe', duration, condition],
  ]),
);

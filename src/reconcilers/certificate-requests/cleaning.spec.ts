import { leafPem } from '../../../test/harness/certificate-texts.js';
import { deletionTimeMs } from './cleaning.reconciler.js';

const at = '2026-01-01T00:00:00Z';
const condition = (type: string, lastUpdateTime: string | null = at) => ({ type, status: 'True', lastUpdateTime });
const certificate = Buffer.from(leafPem).toString('base64');
const hours = (count: number) => Date.parse(at) + count * 3_600_000;

it.each<[string, object, number]>([
  ['is undecided', {}, hours(24)],
  ['is denied', { conditions: [condition('Denied')] }, hours(1)],
  ['has failed', { conditions: [condition('Approved'), condition('Failed')] }, hours(1)],
  ['is approved and not signed', { conditions: [condition('Approved')] }, hours(24)],
  ['is signed', { conditions: [condition('Approved')], certificate }, hours(1)],
  [
    'has a certificate that ends first',
    { conditions: [condition('Approved', '2026-01-01T23:30:00Z')], certificate },
    hours(24),
  ],
  ['was decided at no time', { conditions: [condition('Denied', null)] }, Infinity],
])('a request that %s', (_what, status, want) =>
  // prettier-ignore
  expect(
    deletionTimeMs({
      kind: 'CertificateSigningRequest',
      apiVersion: 'certificates.k8s.io/v1',
      metadata: { name: 'r', creationTimestamp: at },
      status,
    }),
  ).toBe(want),
);

import { leafPem } from '../../../test/harness/certificate-texts.js';
import { deletionTimeMs } from './cleaning.reconciler.js';

const at = '2026-01-01T00:00:00Z';
const condition = (type: string, lastUpdateTime: string | null = at) => ({ type, status: 'True', lastUpdateTime });
const certificate = Buffer.from(leafPem).toString('base64');
const hours = (count: number) => Date.parse(at) + count * 3_600_000;

it.each<[string, object, number]>([
  ['is undecided: after a day', {}, hours(24)],
  ['is Denied: after an hour', { conditions: [condition('Denied')] }, hours(1)],
  ['is Failed: after an hour', { conditions: [condition('Approved'), condition('Failed')] }, hours(1)],
  ['is Approved without a certificate: after a day', { conditions: [condition('Approved')] }, hours(24)],
  ['has a certificate: after an hour', { conditions: [condition('Approved')], certificate }, hours(1)],
  [
    'has a certificate that expires within the hour: when it expires',
    { conditions: [condition('Approved', '2026-01-01T23:30:00Z')], certificate },
    hours(24),
  ],
  ['has no lastUpdateTime: never', { conditions: [condition('Denied', null)] }, Infinity],
])('deletion of a request that %s', (_what, status, want) =>
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

import { namingProfile } from '../../config/naming-profile.js';
import type { Secret, ServiceAccount } from '../../catalog/types/core.v1.js';
import { decide, filled, withoutSecret, type Verdict } from './decide.js';

const rules = { naming: namingProfile('kubernetes', {}), rootCaPem: 'PEM' };
const base64 = (text: string) => Buffer.from(text).toString('base64');
const nameAnnotation = 'kubernetes.io/service-account.name';
const uidAnnotation = 'kubernetes.io/service-account.uid';

const account: ServiceAccount = {
  kind: 'ServiceAccount',
  apiVersion: 'v1',
  metadata: { name: 'robot', namespace: 'shop', uid: 'u1' },
};
const complete = { token: base64('T'), 'ca.crt': base64('PEM'), namespace: base64('shop') };
function secret(data: Record<string, string> | undefined, uid?: string, more: object = {}): Secret {
  const annotations = { [nameAnnotation]: 'robot', ...(uid !== undefined && { [uidAnnotation]: uid }) };
  return {
    kind: 'Secret',
    apiVersion: 'v1',
    metadata: { name: 's', namespace: 'shop', annotations, ...more },
    type: 'kubernetes.io/service-account-token',
    ...(data && { data }),
  };
}

it.each<[what: string, secret: Secret, account: ServiceAccount | undefined, want: Verdict]>([
  ['is complete with the uid', secret(complete, 'u1'), account, 'leave'],
  ['is complete without a uid', secret(complete), account, 'leave'],
  ['has no data', secret(undefined), account, 'fill with a token'],
  ['has an empty uid', secret(complete, ''), account, 'leave'],
  ['has an empty token', secret({ ...complete, token: '' }, 'u1'), account, 'fill with a token'],
  ['has another CA bundle', secret({ ...complete, 'ca.crt': base64('OLD') }, 'u1'), account, 'fill'],
  ['has no namespace', secret({ ...complete, namespace: '' }, 'u1'), account, 'fill'],
  ['has no service account', secret(complete, 'u1'), undefined, 'delete'],
  ['has no data and no service account', secret(undefined), undefined, 'delete'],
  ['has the uid of a deleted service account', secret(complete, 'u0'), account, 'delete'],
  ['is immutable', { ...secret({}, 'u1'), immutable: true }, account, 'leave'],
  ['is immutable, without a service account', { ...secret({}, 'u1'), immutable: true }, undefined, 'delete'],
  ['is being deleted', secret(undefined, 'u0', { deletionTimestamp: '2026-01-01T00:00:00Z' }), undefined, 'leave'],
])('a Secret that %s', (_what, given, found, want) => expect(decide(given, found, rules)).toBe(want));

it('the CA bundle of an active kube-controller-manager is kept', () => {
  const theirs = secret({ ...complete, 'ca.crt': base64('THEIRS') }, 'u1');
  expect(decide(theirs, account, { ...rules, keepsRootCa: true })).toBe('leave');
  expect(decide(secret({ ...complete, 'ca.crt': '' }, 'u1'), account, { ...rules, keepsRootCa: true })).toBe('fill');
});

it.each<[what: string, secret: Secret, token: string | undefined, data: object]>([
  ['all data', secret(undefined), 'T', complete],
  [
    'missing data beside existing data',
    secret({ token: base64('X'), more: 'bQ==' }),
    undefined,
    { ...complete, token: base64('X'), more: 'bQ==' },
  ],
  [
    'missing data beside an existing namespace',
    secret({ namespace: base64('else') }),
    'T',
    { ...complete, namespace: base64('else') },
  ],
])('adds %s', (_what, given, token, data) => {
  const result = filled(given, account, token, rules);
  expect(result.data).toEqual(data);
  expect(result.metadata.annotations).toEqual({ [nameAnnotation]: 'robot', [uidAnnotation]: 'u1' });
});

it('a filled Secret is not changed again', () =>
  expect(decide(filled(secret(undefined), account, 'T', rules), account, rules)).toBe('leave'));

it.each<[string, ServiceAccount, string[] | undefined]>([
  ['that refers to it', { ...account, secrets: [{ name: 'a' }, { name: 's' }] }, ['a']],
  ['that refers to others', { ...account, secrets: [{ name: 'a' }] }, undefined],
  ['without Secrets', account, undefined],
])('withoutSecret() of a service account %s', (_what, given, want) => {
  const result = withoutSecret(given, 's');
  if (want) expect(result.secrets).toEqual(want.map((name) => ({ name })));
  else expect(result).toBe(given);
});

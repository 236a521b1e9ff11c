import { namingProfile } from '../../config/naming-profile.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { decide, filled, withoutSecret, type Verdict } from './decide.js';

const rules = { naming: namingProfile('kubernetes', {}), authorityPem: 'PEM' };
const base64 = (text: string) => Buffer.from(text).toString('base64');
const nameAnnotation = 'kubernetes.io/service-account.name';
const uidAnnotation = 'kubernetes.io/service-account.uid';

const account: KubeObject = {
  kind: 'ServiceAccount',
  apiVersion: 'v1',
  metadata: { name: 'robot', namespace: 'shop', uid: 'u1' },
};
const whole = { token: base64('T'), 'ca.crt': base64('PEM'), namespace: base64('shop') };
function secret(data: Record<string, string> | undefined, uid?: string, more: object = {}): KubeObject {
  const annotations = { [nameAnnotation]: 'robot', ...(uid !== undefined && { [uidAnnotation]: uid }) };
  return {
    kind: 'Secret',
    apiVersion: 'v1',
    metadata: { name: 's', namespace: 'shop', annotations, ...more },
    type: 'kubernetes.io/service-account-token',
    ...(data && { data }),
  };
}

it.each<[what: string, secret: KubeObject, account: KubeObject | undefined, want: Verdict]>([
  ['is whole', secret(whole, 'u1'), account, 'leave'],
  ['is whole and names no uid', secret(whole), account, 'leave'],
  ['has nothing', secret(undefined), account, 'fill with a token'],
  ['has an empty uid', secret(whole, ''), account, 'leave'],
  ['has an empty token', secret({ ...whole, token: '' }, 'u1'), account, 'fill with a token'],
  ['trusts another authority', secret({ ...whole, 'ca.crt': base64('OLD') }, 'u1'), account, 'fill'],
  ['has no namespace', secret({ ...whole, namespace: '' }, 'u1'), account, 'fill'],
  ['has no account', secret(whole, 'u1'), undefined, 'delete'],
  ['never had an account', secret(undefined), undefined, 'delete'],
  ['is of an account of before', secret(whole, 'u0'), account, 'delete'],
  ['cannot be changed', { ...secret({}, 'u1'), immutable: true }, account, 'leave'],
  ['cannot be changed, without an account', { ...secret({}, 'u1'), immutable: true }, undefined, 'delete'],
  ['goes', secret(undefined, 'u0', { deletionTimestamp: '2026-01-01T00:00:00Z' }), undefined, 'leave'],
])('a Secret that %s', (_what, given, found, want) => expect(decide(given, found, rules)).toBe(want));

it('an authority that another controller put in stays while that is at work', () => {
  const theirs = secret({ ...whole, 'ca.crt': base64('THEIRS') }, 'u1');
  expect(decide(theirs, account, { ...rules, keepsAuthority: true })).toBe('leave');
  expect(decide(secret({ ...whole, 'ca.crt': '' }, 'u1'), account, { ...rules, keepsAuthority: true })).toBe('fill');
});

it.each<[what: string, secret: KubeObject, token: string | undefined, data: object]>([
  ['all of it', secret(undefined), 'T', whole],
  [
    'but what was there',
    secret({ token: base64('X'), more: 'bQ==' }),
    undefined,
    { ...whole, token: base64('X'), more: 'bQ==' },
  ],
  ['but the namespace', secret({ namespace: base64('else') }), 'T', { ...whole, namespace: base64('else') }],
])('fills in %s', (_what, given, token, data) => {
  const result = filled(given, account, token, rules);
  expect(result['data']).toEqual(data);
  expect(result.metadata.annotations).toEqual({ [nameAnnotation]: 'robot', [uidAnnotation]: 'u1' });
});

it('what was filled is left as it is', () =>
  expect(decide(filled(secret(undefined), account, 'T', rules), account, rules)).toBe('leave'));

it.each<[string, KubeObject, string[] | undefined]>([
  ['that names it', { ...account, secrets: [{ name: 'a' }, { name: 's' }] }, ['a']],
  ['that names others', { ...account, secrets: [{ name: 'a' }] }, undefined],
  ['that names none', account, undefined],
])('a Secret is taken out of an account %s', (_what, given, want) => {
  const result = withoutSecret(given, 's');
  if (want) expect(result['secrets']).toEqual(want.map((name) => ({ name })));
  else expect(result).toBe(given);
});

import { createHmac } from 'node:crypto';
import type { ConfigMap, Secret } from '../../catalog/types/core.v1.js';
import { roomForSignatures, signedTextOf, withSignatures } from './decide.js';
import { detachedJws, jwsPayload } from './detached-jws.js';
import { keyOf, signingTokenOf } from './signing-tokens.js';
import { deletionTimeMs } from './token-cleaner.reconciler.js';

const at = '2026-01-01T00:00:00Z';
const token = {
  'token-id': 'abc123',
  'token-secret': '0123456789abcdef',
  'usage-bootstrap-signing': 'true',
  expiration: at,
};
const secret = (data: Record<string, string>, metadata: object = {}): Secret => ({
  kind: 'Secret',
  apiVersion: 'v1',
  metadata: { name: 'bootstrap-token-abc123', ...metadata },
  data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
});
const info = (data: ConfigMap['data'], more: object = {}): ConfigMap => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: 'cluster-info' },
  ...(data && { data }),
  ...more,
});

it('a token signs with all of it, or with its secret', () => {
  const found = signingTokenOf(secret(token))!;
  expect(found).toEqual({ id: 'abc123', secret: Buffer.from('0123456789abcdef'), endMs: Date.parse(at) });
  expect(keyOf(found, 'token').toString()).toBe('abc123.0123456789abcdef');
  expect(keyOf(found, 'secret').toString()).toBe('0123456789abcdef');
});

it.each<[string, Secret]>([
  ['whose usage is absent', secret({ ...token, 'usage-bootstrap-signing': '' })],
  ['whose usage is not exactly true', secret({ ...token, 'usage-bootstrap-signing': 'True' })],
  ['without a token-secret', secret({ ...token, 'token-secret': '' })],
  ['without a token-id', secret({ ...token, 'token-id': '' })],
  ['with another id than its name', secret({ ...token, 'token-id': 'abc124' })],
  ['whose name has no id', secret(token, { name: 'token' })],
  ['with the id __proto__', secret({ ...token, 'token-id': '__proto__' }, { name: 'bootstrap-token-__proto__' })],
  ['with a slash in its id', secret({ ...token, 'token-id': 'ab/123' }, { name: 'bootstrap-token-ab/123' })],
  ['without data', { ...secret({}), data: {} }],
])('a Secret %s signs nothing', (_what, given) => expect(signingTokenOf(given)).toBeUndefined());

it('a detached signature verifies with the payload between its parts', () => {
  const jws = detachedJws(jwsPayload('köbeconfig'), 'abc123', Buffer.from('key'));
  const [header = '', middle, signature] = jws.split('.');
  expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toEqual({ alg: 'HS256', kid: 'abc123' });
  expect(middle).toBe('');
  const payload = Buffer.from('köbeconfig').toString('base64url');
  expect(signature).toBe(createHmac('sha256', 'key').update(`${header}.${payload}`).digest('base64url'));
});

const signatures = new Map([['abc123', 'S1'], ['def456', 'S2']]); // prettier-ignore
const signed = { 'jws-kubeconfig-abc123': 'S1', 'jws-kubeconfig-def456': 'S2' };

it.each<[string, Record<string, string> | undefined, Record<string, string>]>([
  ['adds missing ones', { kubeconfig: 'K' }, { kubeconfig: 'K', ...signed }],
  ['adds them to empty data', undefined, signed],
  ['replaces others', { kubeconfig: 'K', ...signed, 'jws-kubeconfig-abc123': 'old' }, { kubeconfig: 'K', ...signed }],
  ['removes those of gone tokens', { ...signed, 'jws-kubeconfig-gone00': 'S' }, signed],
  ['removes those of names that are no ids', { ...signed, 'jws-kubeconfig-__proto__': 'S', 'jws-kubeconfig-': 'S' }, signed],
  ['keeps foreign keys', { a: 'A', ['__proto__']: 'P', 'jws-other': 'O' }, { a: 'A', ['__proto__']: 'P', 'jws-other': 'O', ...signed }],
])('withSignatures() %s', (_what, before, want) => {
  const result = withSignatures(info(before), signatures);
  expect(Object.entries(result.data ?? {}).sort()).toEqual(Object.entries(want).sort());
  expect(withSignatures(result, signatures)).toBe(result);
}); // prettier-ignore

it.each<[string, ConfigMap, string | undefined]>([
  ['a kubeconfig: itself', info({ kubeconfig: 'K' }), 'K'],
  ['an empty kubeconfig: itself', info({ kubeconfig: '' }), ''],
  ['no data: none', info(undefined), undefined],
  ['another key: none', info({ config: 'K' }), undefined],
  ['immutable data: none', info({ kubeconfig: 'K' }, { immutable: true }), undefined],
])('the signed text of a ConfigMap with %s', (_what, given, want) => expect(signedTextOf(given)).toBe(want));

it.each<[string, ConfigMap, number]>([
  ['little data', info({ kubeconfig: 'K', ...signed }), 5000],
  ['much data', info({ kubeconfig: 'K'.repeat(1_048_576 - 250) }), 2],
  ['much binary data', info({}, { binaryData: { b: Buffer.alloc(1_048_576 - 100).toString('base64') } }), 1],
  ['too much data', info({ kubeconfig: 'K'.repeat(1_048_577) }), 0],
])('the number of signatures that fit beside %s', (_what, given, want) =>
  expect(roomForSignatures(given, 100)).toBe(want),
);

it.each<[string, Secret, number]>([
  ['that expires: then', secret(token), Date.parse(at)],
  ['of any name: then', secret(token, { name: 'any' }), Date.parse(at)],
  ['without an expiration: never', secret({}), Infinity],
  ['with a malformed expiration: at once', secret({ expiration: 'soon' }), -Infinity],
  ['that is being deleted: never', secret(token, { deletionTimestamp: at }), Infinity],
])('the deletion of a token Secret %s', (_what, given, want) => expect(deletionTimeMs(given)).toBe(want));

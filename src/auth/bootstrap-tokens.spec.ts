import type { Secret } from '../catalog/types/core.v1.js';
import { bootstrapTokenEndMs, bootstrapTokenIdOf } from './bootstrap-tokens.js';

const tokenSecret = (data: Record<string, string>): Secret => ({
  kind: 'Secret',
  apiVersion: 'v1',
  metadata: { name: 's' },
  data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
});

it.each<[string, Record<string, string>, number]>([
  ['no expiration', {}, Infinity],
  ['an empty expiration', { expiration: '' }, Infinity],
  ['a time in UTC', { expiration: '2026-01-01T00:00:00Z' }, Date.UTC(2026, 0, 1)],
  ['a time with an offset', { expiration: '2026-01-01T02:00:00+02:00' }, Date.UTC(2026, 0, 1)],
  ['a fraction of a second', { expiration: '2026-01-01T00:00:00.9Z' }, Date.UTC(2026, 0, 1)],
  ['the zero time', { expiration: '0001-01-01T00:00:00Z' }, Date.parse('0001-01-01T00:00:00Z')],
  ['a date without a time', { expiration: '2999-01-01' }, -Infinity],
  ['a time without a zone', { expiration: '2999-01-01T00:00:00' }, -Infinity],
  ['a day that does not exist', { expiration: '2999-02-30T00:00:00Z' }, -Infinity],
  ['text after the time', { expiration: '2999-01-01T00:00:00Z\n' }, -Infinity],
  ['any other text', { expiration: 'tomorrow' }, -Infinity],
])('the end of a token with %s', (_what, data, want) => expect(bootstrapTokenEndMs(tokenSecret(data))).toBe(want));

it.each([
  ['bootstrap-token-abc123', 'abc123'],
  ['bootstrap-token-', undefined],
  ['bootstrap-token-abc1234', undefined],
  ['bootstrap-token-ABC123', undefined],
  ['bootstrap-token-ab/123', undefined],
  ['bootstrap-token-__proto__', undefined],
  ['bootstrap-token-abc123\n', undefined],
  ['abc123', undefined],
])('the token id in the name %j is %j', (name, want) => expect(bootstrapTokenIdOf(name)).toBe(want));

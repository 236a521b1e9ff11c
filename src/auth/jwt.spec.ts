import { cpuMsOf } from '../../test/harness/cpu-time.js';
import { readJwt } from './jwt.js';

const part = (text: string) => Buffer.from(text).toString('base64url');
const token = (claims: string) => [part('{"alg":"RS256"}'), part(claims), part('signature')].join('.');

describe('readJwt', () => {
  it('parses header, payload and signature', () => {
    expect(readJwt(token('{"iss":"a"}'))).toMatchObject({
      header: { alg: 'RS256' },
      payload: { iss: 'a' },
      signature: Buffer.from('signature'),
    });
  });

  it.each<[string, string]>([
    ['two parts', 'a.b'],
    ['four parts', 'a.b.c.d'],
    ['an empty part', 'a..c'],
    ['characters that are not base64url', 'a.b=.c'],
    ['a payload that is not JSON', `e30.${part('{')}.AAAA`],
    ['more than 1 MiB', token(`{"iss":"${'a'.repeat(1024 * 1024)}"}`)],
  ])('returns undefined for a text with %s', (_about, text) => {
    expect(readJwt(text)).toBeUndefined();
  });

  it.each<[string, string]>([
    ['3 MiB of dots', '.'.repeat(3 * 1024 * 1024)],
    ['1 MiB of dots', '.'.repeat(1024 * 1024)],
    ['3 MiB of claims', token(`{${'"a":1,'.repeat(380_000)}"b":1}`)],
  ])('takes less than the time bound for %s', (_about, text) => {
    expect(cpuMsOf(() => readJwt(text), 50)).toBeLessThan(50);
  });
});

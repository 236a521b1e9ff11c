import { decodeJson, encodeJson } from '../../codec/json.js';
import type { JsonObject } from '../../machinery/kube-object.js';
import { decodeContinue, encodeContinue } from './continue-token.js';

const token = { revision: 42 as never, start: 'web-7' };
const text = encodeContinue(token);

/** Returns the token `of` with a changed value. */
function edited(change: (value: JsonObject) => void, of = text): string {
  const value = decodeJson(Buffer.from(of, 'base64url')) as JsonObject;
  change(value);
  return encodeJson(value).toString('base64url');
}

it('decodes an encoded token to the same revision and start', () => {
  expect(decodeContinue(text)).toEqual(token);
  const latest = { revision: 'latest', start: 'ns/ä' } as const;
  expect(decodeContinue(encodeContinue(latest))).toEqual(latest);
});

it('accepts a token without a checksum', () => {
  expect(decodeContinue(edited((value) => delete value['sum']))).toEqual(token);
});

it.each(['/web-7\0', 'web-7\0', '/ns/web-7\0', '/system:view\0'])(
  'accepts the start key of a kube-apiserver token: %j',
  (start) => {
    const theirs = encodeJson({ v: 'meta.k8s.io/v1', rv: 42, start }).toString('base64url');
    expect(decodeContinue(theirs)).toEqual({ revision: 42, start: start.replace(/^\/|\0$/g, '') });
  },
);

it.each(['//web-7\0', '/../web-7\0', 'a//b\0', 'a/./b\0', '../b\0', '/'])('rejects the start key %j', (start) => {
  const wrong = encodeJson({ v: 'meta.k8s.io/v1', rv: 42, start }).toString('base64url');
  expect(() => decodeContinue(wrong)).toThrow(/^invalid continue token: continue key is not valid: /);
});

it.each([
  ['a changed revision', edited((value) => (value['rv'] = 43))],
  ['a changed start key', edited((value) => (value['start'] = 'web-8\0'))],
  ['a changed checksum', edited((value) => (value['sum'] = 'x'))],
  ['a truncated end', text.slice(0, -4)],
  ['one changed letter', text.replace(/.$/, (last) => (last === 'A' ? 'Q' : 'A'))],
])('rejects a token with %s', (_name, changed) => {
  expect(() => decodeContinue(changed)).toThrow(/^invalid continue token: continue key is not valid: /);
});

import { decodeJson, encodeJson } from '../codec/json.js';
import type { JsonObject } from '../machinery/kube-object.js';
import { decodeContinue, encodeContinue } from './continue-token.js';

const token = { revision: 42 as never, start: 'web-7' };
const text = encodeContinue(token);

/** The token with something else in it. */
function edited(change: (value: JsonObject) => void, of = text): string {
  const value = decodeJson(Buffer.from(of, 'base64url')) as JsonObject;
  change(value);
  return encodeJson(value).toString('base64url');
}

it('comes back as it was', () => {
  expect(decodeContinue(text)).toEqual(token);
  const latest = { revision: 'latest', start: 'ns/ä' } as const;
  expect(decodeContinue(encodeContinue(latest))).toEqual(latest);
});

it('is taken from servers that put no sum in it', () => {
  expect(decodeContinue(edited((value) => delete value['sum']))).toEqual(token);
});

it.each(['/web-7\0', 'web-7\0', '/ns/web-7\0', '/system:view\0'])('is taken from kube-apiserver: %j', (start) => {
  const theirs = encodeJson({ v: 'meta.k8s.io/v1', rv: 42, start }).toString('base64url');
  expect(decodeContinue(theirs)).toEqual({ revision: 42, start: start.replace(/^\/|\0$/g, '') });
});

it.each(['//web-7\0', '/../web-7\0', 'a//b\0', 'a/./b\0', '../b\0', '/'])('is refused with the start %j', (start) => {
  const wrong = encodeJson({ v: 'meta.k8s.io/v1', rv: 42, start }).toString('base64url');
  expect(() => decodeContinue(wrong)).toThrow(/^invalid continue token: continue key is not valid: /);
});

it.each([
  ['another revision', edited((value) => (value['rv'] = 43))],
  ['another start', edited((value) => (value['start'] = 'web-8\0'))],
  ['another sum', edited((value) => (value['sum'] = 'x'))],
  ['its end missing', text.slice(0, -4)],
  ['one letter changed', text.replace(/.$/, (last) => (last === 'A' ? 'Q' : 'A'))],
])('is refused with %s', (_name, changed) => {
  expect(() => decodeContinue(changed)).toThrow(/^invalid continue token: continue key is not valid: /);
});

import { declare, overload } from '../check/declarations.js';
import { types } from '../types.js';
import type { Value } from '../values/value.js';
import { CelError } from '../values/value.js';
import { spend, spendOnText } from '../work.js';
import type { Library } from './library.js';

/** base64.encode and base64.decode; the padding may be left out. */
function decode(text: string): Value {
  spend(20);
  spendOnText(text, 0.5);
  const body = text.replace(/[\r\n]/g, '');
  const digits = body.replace(/={0,2}$/, '');
  const isPadded = digits.length < body.length;
  const wrong = /[^A-Za-z0-9+/]/.exec(digits)?.index ?? (isPadded && body.length % 4 !== 0 ? digits.length : -1);
  if (wrong >= 0) return new CelError(`illegal base64 data at input byte ${wrong}`);
  if (digits.length % 4 === 1) return new CelError(`illegal base64 data at input byte ${digits.length - 1}`);
  return new Uint8Array(Buffer.from(digits, 'base64'));
}

export const encodersLibrary: Library = {
  name: 'cel.lib.ext.encoders',
  functions: [
    declare(
      'base64.decode',
      overload('base64_decode_string', [types.string], types.bytes, (text) => decode(text as string)),
    ),
    declare(
      'base64.encode',
      overload('base64_encode_bytes', [types.bytes], types.string, (bytes) => {
        const buffer = Buffer.from(bytes as Uint8Array);
        spend(buffer.length / 10);
        return buffer.toString('base64');
      }),
    ),
  ],
};

import fc from 'fast-check';
import { splitText } from './split-text.js';

it('splits as String.split() does', () => {
  const text = fc
    .array(fc.constantFrom('/', 'a', 'é', '\u{1f600}', ''), { maxLength: 8 })
    .map((parts) => parts.join(''));
  fc.assert(fc.property(text, (whole) => expect(splitText(whole, '/')).toEqual(whole.split('/'))));
});

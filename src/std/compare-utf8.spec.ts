import fc from 'fast-check';
import { compareUtf8 } from './compare-utf8.js';

const letters = fc.constantFrom('a', 'b', '/', 'é', '\uffee', '\uffff', '\ue000', '\u{1f600}', '\u{10ffff}', '\ud7ff');
const anyText = fc.array(letters, { maxLength: 5 }).map((parts) => parts.join(''));

it('texts are ordered by their UTF-8 bytes', () => {
  fc.assert(
    fc.property(anyText, anyText, (a, b) => {
      const byBytes = Buffer.compare(Buffer.from(a), Buffer.from(b));
      expect(Math.sign(compareUtf8(a, b))).toBe(byBytes);
      expect(compareUtf8(a, a)).toBe(0);
    }),
  );
});

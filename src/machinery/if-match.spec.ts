import { resourceVersionOfIfMatch } from './if-match.js';

it.each<[string | undefined, string | undefined]>([
  [undefined, undefined],
  ['', undefined],
  ['*', undefined],
  ['1234567890123456789', '1234567890123456789'],
  [' "7" ', '7'],
])('If-Match: %s', (header, want) => expect(resourceVersionOfIfMatch(header)).toBe(want));

it.each(['"7', 'W/"7"', '7, 8', 'x'])('If-Match: %s is rejected', (header) =>
  expect(() => resourceVersionOfIfMatch(header)).toThrow('takes one resourceVersion'),
);

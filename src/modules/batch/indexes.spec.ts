import { parseIndexes } from './indexes.js';

it.each<[string, number | string]>([
  ['', 0],
  ['0', 1],
  ['0-2,4', 4],
  ['1-x', 'cannot convert string to integer for index: "x"'],
  [
    '1-2-3',
    `the fragment "1-2-3" violates the requirement that an index interval can have at most two parts separated by '-'`,
  ],
  ['9', 'too large index: "9"'],
  ['2-1', 'non-increasing order, previous: 2, current: 1'],
  ['1,1', 'non-increasing order, previous: 1, current: 1'],
])('the indexes %j with 5 completions', (text, want) =>
  expect(parseIndexes(text, 5)).toEqual(typeof want === 'number' ? { total: want } : { problem: want }),
);

import { RecentValues } from './recent-values.js';

test('makes one value for each of the texts that were asked for last', () => {
  const made: string[] = [];
  const values = new RecentValues(4, (text) => {
    made.push(text);
    return { text };
  });
  const a = values.get('a');
  expect(values.get('a')).toBe(a);
  for (const text of ['b', 'c', 'a', 'd', 'e', 'a']) expect(values.get(text)).toEqual({ text });
  expect(values.get('a')).toBe(a);
  expect(made).toEqual(['a', 'b', 'c', 'd', 'e']);
  values.get('b');
  expect(made).toHaveLength(6);
});

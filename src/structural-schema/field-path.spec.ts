import { cpuMsOf } from '../../test/harness/cpu-time.js';
import { findField } from './field-path.js';

const text = { type: 'string' };
const labels = { type: 'object', additionalProperties: { type: 'object', additionalProperties: text } };
const schema = {
  type: 'object',
  properties: { spec: { type: 'object', properties: { color: text, 'a.b': text } }, labels },
};

it.each<[string, object]>([
  ['.spec.color', { names: ['spec', 'color'], text: 'spec.color' }],
  [`.spec['a.b']`, { names: ['spec', 'a.b'], text: 'spec.a.b' }],
  [`.labels['it\\'s'].x`, { names: ['labels', "it's", 'x'], text: "labels[it's][x]" }],
  ['.spec.size', { problem: 'does not refer to a valid field' }],
  ['.spec.', { problem: 'unexpected end of JSON path' }],
  ['spec', { problem: 'expected [ or . but got: spec' }],
  ['.spec[color]', { problem: 'expected single quoted string but got color' }],
  [`.spec['a.b'`, { problem: 'unexpected end of JSON path' }],
  [`.spec['a.b'.`, { problem: 'expected ] but got .' }],
])('finds %s', (path, want) => expect(findField(path, schema)).toMatchObject(want));

it.each(['.', '.a', '[', `['a']`, "'", 'a'])('refuses a path of 3 MB of %j in linear time', (part) => {
  const path = part.repeat(3_000_000 / part.length);
  expect(cpuMsOf(() => expect(findField(path, schema)).toHaveProperty('problem'), 200)).toBeLessThan(200);
});

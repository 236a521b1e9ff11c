import { setSettingAt, settingAt } from './setting-path.js';

it.each<[string, unknown]>([
  ['a', { b: { c: 1 } }],
  ['a.b.c', 1],
  ['a.x', undefined],
  ['x.b.c', undefined],
])('the setting at %s is %j', (path, want) => expect(settingAt({ a: { b: { c: 1 } } }, path)).toEqual(want));

it.each<[string, object]>([
  ['a', { a: 2 }],
  ['a.b.c', { a: { b: { c: 2 } } }],
  ['a.d', { a: { b: { c: 1 }, d: 2 } }],
])('setting %s changes only that property', (path, want) => {
  const config = { a: { b: { c: 1 } } };
  setSettingAt(config, path, 2);
  expect(config).toEqual(want);
});

import { goStruct } from './go-value.js';

it('prints every field in order with its Go name', () =>
  expect(
    JSON.stringify(
      goStruct({ name: 'n', apiGroup: 'g', inner: { a: 1 } }, [
        ['apiGroup', ''],
        ['kind', ''],
        ['name', ''],
        ['inner', null, (inner) => goStruct(inner, [['a', 0]])],
        ['rules', null],
      ]),
    ),
  ).toBe('{"APIGroup":"g","Kind":"","Name":"n","Inner":{"A":1},"Rules":null}'));

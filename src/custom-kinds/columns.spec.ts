import type { KubeObject } from '../machinery/kube-object.js';
import type { Fields } from '../machinery/fields.js';
import { customScaleTable, customTable } from './columns.js';

const nowMs = Date.parse('2024-01-02T00:00:00Z');
const object = (spec: Fields): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name: 'one', creationTimestamp: '2024-01-01T21:00:00Z' },
  spec,
});

it.each<[type: string, value: unknown, want: unknown]>([
  ['string', 'text', 'text'],
  ['string', '', ''],
  ['string', 5, '5'],
  ['string', 1.5, '1.5'],
  ['string', 0.00001, '1e-05'],
  ['string', 1e21, '1e+21'],
  ['string', true, 'true'],
  ['string', null, '<no value>'],
  ['string', 9007199254740993n, '9007199254740993'],
  ['string', { b: [1, 'x', null], a: { c: '<&>' } }, String.raw`{"a":{"c":"\u003c\u0026\u003e"},"b":[1,"x",null]}`],
  ['string', [], '[]'],
  ['string', undefined, null],
  ['integer', 5, 5],
  ['integer', -1.9, -1],
  ['integer', 9007199254740993n, 9007199254740993n],
  ['integer', '5', null],
  ['integer', null, null],
  ['number', 1.5, 1.5],
  ['number', '1.5', null],
  ['boolean', false, false],
  ['boolean', 'false', null],
  ['date', '2024-01-01T23:59:30Z', '30s'],
  ['date', '2024-01-02T00:00:00+01:00', '60m'],
  ['date', '2020-01-02T00:00:00Z', '4y1d'],
  ['date', '2025-01-02T00:00:00Z', '<invalid>'],
  ['date', '', '<unknown>'],
  ['date', 'never', '<invalid>'],
  ['date', '2024-01-01', '<invalid>'],
  ['date', 5, null],
  ['date', undefined, null],
])('a cell of type %s shows %j as %j', (type, value, want) => {
  const { cells } = customTable([{ name: 'Field', type, jsonPath: '.spec.field' }]);
  expect(cells(object({ ...(value !== undefined && { field: value }) }), { nowMs })).toEqual(['one', want]);
});

it('a column whose path finds several values shows the first', () => {
  const { cells } = customTable([{ name: 'Names', type: 'string', jsonPath: '.spec.list[*].name' }]);
  expect(cells(object({ list: [{ name: 'a' }, { name: 'b' }] }), { nowMs })).toEqual(['one', 'a']);
});

it('columns have the name, type, format, description and priority of the definition', () => {
  const { columns } = customTable([
    { name: 'Wide', type: 'integer', format: 'int32', description: 'How wide.', priority: 1, jsonPath: '.spec.wide' },
    { name: 'Plain', type: 'string', jsonPath: '.spec.plain' },
  ]);
  expect(columns.slice(1)).toEqual([
    { name: 'Wide', type: 'integer', format: 'int32', description: 'How wide.', priority: 1 },
    { name: 'Plain', type: 'string', description: expect.stringContaining('.spec.plain') as string },
  ]);
});

it.each([[undefined], [[]]])('additionalPrinterColumns %j show the age', (columns) => {
  const table = customTable(columns);
  expect(table.columns.map(({ name }) => name)).toEqual(['Name', 'Age']);
  expect(table.cells(object({}), { nowMs })).toEqual(['one', '3h']);
});

it('columns from the first unreadable JSON path on are left out', () => {
  const column = (name: string, jsonPath: string) => ({ name, type: 'string', jsonPath });
  const { columns } = customTable([column('A', '.spec.a'), column('B', '.spec['), column('C', '.spec.c')]);
  expect(columns.map(({ name }) => name)).toEqual(['Name', 'A']);
});

it('the table of a Scale shows its desired and available replicas and its age', () => {
  const scale = { ...object({ replicas: 3 }), status: { replicas: 2 } };
  expect(customScaleTable.columns.map(({ name, type }) => `${name} ${type}`)).toEqual([
    ...['Name string', 'Desired integer', 'Available integer', 'Age date'],
  ]);
  expect(customScaleTable.cells(scale, { nowMs })).toEqual(['one', 3, 2, '3h']);
});

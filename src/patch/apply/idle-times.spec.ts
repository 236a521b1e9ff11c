import type { JsonObject } from '../../machinery/kube-object.js';
import { withoutIdleTimes } from './idle-times.js';

const object = (data: string, ...entries: [manager: string, time: string, field?: string][]): JsonObject => ({
  metadata: {
    name: 'one',
    managedFields: entries.map(([manager, time, field = 'a']) => ({
      manager,
      operation: 'Apply',
      apiVersion: 'v1',
      time: `2026-01-02T03:04:0${time}Z`,
      fieldsType: 'FieldsV1',
      fieldsV1: { [`f:${field}`]: {} },
    })),
  },
  data,
});

describe('withoutIdleTimes', () => {
  const live = object('x', ['m1', '1'], ['m2', '2']);
  it.each<[string, JsonObject, JsonObject]>([
    ['puts back times if nothing else changed', object('x', ['m2', '2'], ['m1', '5']), live],
    [
      'keeps new times with another object',
      object('y', ['m1', '5'], ['m2', '2']),
      object('y', ['m1', '5'], ['m2', '2']),
    ],
    [
      'keeps new times with other fields',
      object('x', ['m1', '5', 'b'], ['m2', '2']),
      object('x', ['m1', '5', 'b'], ['m2', '2']),
    ],
    ['keeps new times with other owners', object('x', ['m1', '5'], ['m3', '2']), object('x', ['m1', '5'], ['m3', '2'])],
    ['keeps new times if an owner is gone', object('x', ['m1', '5']), object('x', ['m1', '5'])],
  ])('%s', (_, next, want) => expect(withoutIdleTimes(live, next)).toEqual(want));

  it('ignores an object without managedFields', () => {
    expect(withoutIdleTimes({ metadata: {} }, live)).toBe(live);
    expect(withoutIdleTimes(live, { metadata: {} })).toEqual({ metadata: {} });
  });
});

import { cpuMsOf } from '../../../test/harness/cpu-time.js';
import type { Taint, Toleration } from '../../catalog/types/core.v1.js';
import { evictionBy, type Eviction } from './decide.js';

const executes = (key: string, value?: string): Taint => ({ key, effect: 'NoExecute', ...(value && { value }) });
const tolerates = (key: string, seconds?: number, more: Toleration = {}): Toleration => ({
  key,
  operator: 'Exists',
  effect: 'NoExecute',
  ...(seconds !== undefined && { tolerationSeconds: seconds }),
  ...more,
});

it.each<[string, Taint[], Toleration[], Eviction]>([
  ['no taint', [], [], 'never'],
  ['a taint with another effect', [{ key: 'a', effect: 'NoSchedule' }], [], 'never'],
  ['a taint that it does not tolerate', [executes('a')], [tolerates('b')], 'now'],
  ['a taint that it tolerates forever', [executes('a')], [tolerates('a')], 'never'],
  ['a taint that it tolerates for a time', [executes('a')], [tolerates('a', 300)], 300],
  [
    'two taints that it tolerates for a time',
    [executes('a'), executes('b')],
    [tolerates('a', 9), tolerates('b', 5)],
    5,
  ],
  ['two taints, one of which it tolerates', [executes('a'), executes('b')], [tolerates('a', 9)], 'now'],
  ['a taint that it tolerates for no time', [executes('a')], [tolerates('a', 0)], 'now'],
  ['a taint and a negative time', [executes('a')], [tolerates('a', -1)], 'now'],
  ['two tolerations of one taint: the first counts', [executes('a')], [tolerates('a', 9), tolerates('a', 5)], 9],
  ['a toleration of all taints', [executes('a'), executes('b')], [{ operator: 'Exists' }], 'never'],
  ['a toleration of all taints before its own', [executes('a')], [{ operator: 'Exists' }, tolerates('a', 5)], 'never'],
  ['a toleration of all taints after its own', [executes('a')], [tolerates('a', 5), { operator: 'Exists' }], 5],
  ['a toleration without key and operator', [executes('a')], [{}], 'now'],
  ['a toleration of another effect', [executes('a')], [tolerates('a', 5, { effect: 'NoSchedule' })], 'now'],
  ['a toleration of all effects', [executes('a')], [tolerates('a', 5, { effect: '' })], 5],
  ['an equal value', [executes('a', 'x')], [{ key: 'a', value: 'x' }], 'never'],
  ['another value', [executes('a', 'x')], [{ key: 'a', operator: 'Equal', value: 'y' }], 'now'],
  ['a smaller number', [executes('a', '3')], [{ key: 'a', operator: 'Lt', value: '5' }], 'never'],
  ['a number that is not smaller', [executes('a', '5')], [{ key: 'a', operator: 'Lt', value: '5' }], 'now'],
  ['a larger number', [executes('a', '7')], [{ key: 'a', operator: 'Gt', value: '5' }], 'never'],
  ['a text instead of a number', [executes('a', 'x')], [{ key: 'a', operator: 'Gt', value: '5' }], 'now'],
])('eviction of a Pod with %s', (_, taints, tolerations, want) => {
  expect(evictionBy(taints, tolerations)).toBe(want);
});

it('many taints and tolerations take linear time', () => {
  const keys = Array.from({ length: 20_000 }, (_, n) => `k${n}`);
  const taints = keys.map((key) => executes(key));
  const tolerations = keys.toReversed().map((key) => tolerates(key, 60));
  expect(cpuMsOf(() => void expect(evictionBy(taints, tolerations)).toBe(60), 2_000)).toBeLessThan(2_000);
});

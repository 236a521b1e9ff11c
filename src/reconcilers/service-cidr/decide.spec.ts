import { namingProfile } from '../../config/naming-profile.js';
import { conditionsAfter, stateOf } from './decide.js';

const naming = namingProfile('kubernetes', {});
const range = (name: string, cidrs: string[], more: object = {}) => ({
  kind: 'ServiceCIDR',
  apiVersion: 'networking.k8s.io/v1',
  metadata: { name, ...more },
  spec: { cidrs },
});
const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z' };

it.each<[string, object, object[], string[], string]>([
  ['is not deleted: ready', {}, [], ['10.0.0.5'], 'ready'],
  ['is deleted, without allocated addresses: free', deleted, [], ['10.1.0.5'], 'free'],
  ['is deleted, with an allocated address: in use', deleted, [], ['10.1.0.5', '10.0.0.5'], 'inUse'],
  ['is deleted, with an allocated address of its other family: in use', deleted, [], ['fd00::5'], 'inUse'],
  [
    'is deleted, with an address that another range contains: free',
    deleted,
    [range('b', ['10.0.0.0/16'])],
    ['10.0.0.5'],
    'free',
  ],
  [
    'is deleted, with an address that another deleted range contains: in use',
    deleted,
    [range('b', ['10.0.0.0/16'], deleted)],
    ['10.0.0.5'],
    'inUse',
  ],
])('the state of a range that %s', (_what, more, others, addresses, want) =>
  expect(stateOf(range('a', ['10.0.0.0/24', 'fd00::/120'], more), others as never, addresses)).toBe(want),
);

it('the condition Ready is written once, and becomes False for a deleted range in use', () => {
  const now = '2026-01-02T00:00:00Z';
  const added = range('a', ['10.0.0.0/24']);
  const first = conditionsAfter(added, 'ready', naming, now);
  expect(first).toEqual([
    { type: 'Ready', status: 'True', lastTransitionTime: now, reason: '', message: 'Kubernetes Service CIDR is ready' },
  ]);
  const ready = { ...added, status: { conditions: first } };
  expect(conditionsAfter(ready, 'ready', naming, 'later')).toEqual(first);
  expect(conditionsAfter(ready, 'inUse', naming, 'later')).toMatchObject([{ status: 'False', reason: 'Terminating' }]);
});

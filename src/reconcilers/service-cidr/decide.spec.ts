import { namingProfile } from '../../config/naming-profile.js';
import { conditionsAfter, standingOf } from './decide.js';

const naming = namingProfile('kubernetes', {});
const range = (name: string, cidrs: string[], more: object = {}) => ({
  kind: 'ServiceCIDR',
  apiVersion: 'networking.k8s.io/v1',
  metadata: { name, ...more },
  spec: { cidrs },
});
const going = { deletionTimestamp: '2026-01-01T00:00:00Z' };

it.each<[string, object, object[], string[], string]>([
  ['is not deleted', {}, [], ['10.0.0.5'], 'ready'],
  ['has nothing taken', going, [], ['10.1.0.5'], 'free'],
  ['has one taken', going, [], ['10.1.0.5', '10.0.0.5'], 'inUse'],
  ['has one taken of its other family', going, [], ['fd00::5'], 'inUse'],
  ['has one taken that lies in another range too', going, [range('b', ['10.0.0.0/16'])], ['10.0.0.5'], 'free'],
  [
    'has one taken that lies in another range that goes',
    going,
    [range('b', ['10.0.0.0/16'], going)],
    ['10.0.0.5'],
    'inUse',
  ],
])('a range that %s', (_what, more, others, addresses, want) =>
  expect(standingOf(range('a', ['10.0.0.0/24', 'fd00::/120'], more), others as never, addresses)).toBe(want),
);

it('says once that it is ready, and when it is no more', () => {
  const now = '2026-01-02T00:00:00Z';
  const made = range('a', ['10.0.0.0/24']);
  const first = conditionsAfter(made, 'ready', naming, now);
  expect(first).toEqual([
    { type: 'Ready', status: 'True', lastTransitionTime: now, reason: '', message: 'Kubernetes Service CIDR is ready' },
  ]);
  const ready = { ...made, status: { conditions: first } };
  expect(conditionsAfter(ready, 'ready', naming, 'later')).toEqual(first);
  expect(conditionsAfter(ready, 'inUse', naming, 'later')).toMatchObject([{ status: 'False', reason: 'Terminating' }]);
});

import { withFinding, withoutFinding, type Finding } from './definition-conditions.js';

const early = '2026-01-01T00:00:00Z';
const late = '2026-01-01T00:01:00Z';
const finding = (rest: Partial<Finding> = {}): Finding => ({
  type: 'A',
  status: 'True',
  reason: 'R',
  message: 'm',
  ...rest,
});
const other = { type: 'B', status: 'False', lastTransitionTime: early, reason: '', message: '' };
const known = { ...finding(), lastTransitionTime: early };

it.each<[string, object[], Finding, object[]]>([
  ['adds the first condition of a type', [other], finding(), [other, { ...finding(), lastTransitionTime: late }]],
  ['keeps an equal condition', [known, other], finding(), [known, other]],
  [
    'replaces the message and keeps lastTransitionTime',
    [known, other],
    finding({ message: 'n' }),
    [{ ...known, message: 'n' }, other],
  ],
  [
    'a changed status sets lastTransitionTime',
    [known, other],
    finding({ status: 'False' }),
    [{ ...finding({ status: 'False' }), lastTransitionTime: late }, other],
  ],
  [
    'sets a missing lastTransitionTime',
    [finding()],
    finding({ reason: 'S' }),
    [{ ...known, reason: 'S', lastTransitionTime: late }],
  ],
])('withFinding: %s', (_what, before, it, want) =>
  expect(withFinding(before as Record<string, unknown>[], it, late)).toEqual(want),
);

it('returns the same list if nothing changes', () => {
  const before = [known, other];
  expect(withFinding(before, finding(), late)).toBe(before);
  expect(withoutFinding(before, 'C')).toBe(before);
  expect(withoutFinding(before, 'A')).toEqual([other]);
});

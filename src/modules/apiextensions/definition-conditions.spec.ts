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
  ['a first one', [other], finding(), [other, { ...finding(), lastTransitionTime: late }]],
  ['the same', [known, other], finding(), [known, other]],
  ['other words', [known, other], finding({ message: 'n' }), [{ ...known, message: 'n' }, other]],
  [
    'another status',
    [known, other],
    finding({ status: 'False' }),
    [{ ...finding({ status: 'False' }), lastTransitionTime: late }, other],
  ],
  [
    'a time that was missing',
    [finding()],
    finding({ reason: 'S' }),
    [{ ...known, reason: 'S', lastTransitionTime: late }],
  ],
])('%s', (_what, before, it, want) => expect(withFinding(before as Record<string, unknown>[], it, late)).toEqual(want));

it('keeps the list where nothing is new', () => {
  const before = [known, other];
  expect(withFinding(before, finding(), late)).toBe(before);
  expect(withoutFinding(before, 'C')).toBe(before);
  expect(withoutFinding(before, 'A')).toEqual([other]);
});

import { validateConditions } from './condition-validation.js';
import { path } from './field-error.js';

const good = { type: 'Ready', status: 'True', reason: 'AllWell', lastTransitionTime: '2026-01-02T03:04:05Z' };

it.each<[string, object[], string[]]>([
  ['a good one', [good], []],
  ['twice', [good, good], ['c[1].type: Duplicate value: "Ready"']],
  ['an empty reason', [{ ...good, reason: '' }], ['c[0].reason: Required value']],
  ['no lastTransitionTime', [{ ...good, lastTransitionTime: null }], ['c[0].lastTransitionTime: Required value']],
  [
    'another status',
    [{ ...good, status: 'Yes' }],
    ['c[0].status: Unsupported value: "Yes": supported values: "False", "True", "Unknown"'],
  ],
  [
    'a negative generation',
    [{ ...good, observedGeneration: -1 }],
    ['c[0].observedGeneration: Invalid value: -1: must be greater than or equal to zero'],
  ],
  [
    'a long message',
    [{ ...good, message: 'x'.repeat(32769) }],
    ['c[0].message: Too long: may not be more than 32768 bytes'],
  ],
])('%s', (_name, conditions, want) =>
  expect(validateConditions(conditions, path('c')).map(({ field, detail }) => `${field}: ${detail}`)).toEqual(want),
);

it('a reason with spaces is invalid', () => {
  const [error] = validateConditions([{ ...good, reason: 'all well' }], path('c'));
  expect(error!.detail).toContain("regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?'");
});

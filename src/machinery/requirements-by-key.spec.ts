import fc from 'fast-check';
import { cpuMsOf } from '../../test/harness/cpu-time.js';
import { LabelSelector, type LabelRequirement } from './label-selector.js';
import { parseLabelSelector } from './label-selector-parser.js';
import { RequirementsByKey } from './requirements-by-key.js';

const key = fc.constantFrom('a', 'b', 'c');
const value = fc.constantFrom('', '1', '2', '10', 'x');
const requirement: fc.Arbitrary<LabelRequirement> = fc.oneof(
  fc.record({ key, operator: fc.constantFrom('=', '==', '!=', 'gt', 'lt'), values: fc.tuple(value) }),
  fc.record({ key, operator: fc.constantFrom('in', 'notin'), values: fc.uniqueArray(value, { minLength: 1 }) }),
  fc.record({ key, operator: fc.constantFrom('exists', '!'), values: fc.constant([]) }),
);
const labels = fc.option(fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), value), { nil: undefined });

it('RequirementsByKey matches like the single requirements', () => {
  fc.assert(
    fc.property(fc.array(requirement, { maxLength: 4 }), labels, (requirements, given) => {
      expect(new RequirementsByKey(requirements).areMet(given)).toBe(new LabelSelector(requirements).matches(given));
    }),
    { numRuns: 1000 },
  );
});

it.each([
  ['12,000 absent labels', Array.from({ length: 12_000 }, (_, index) => `!k${index}`).join(',')],
  ['12,000 other values', Array.from({ length: 12_000 }, (_, index) => `app!=v${index}`).join(',')],
  ['one of 20,000 values', `app in (${Array.from({ length: 20_000 }, (_, index) => `v${index}`).join(',')},web)`],
])('a selector of %s is matched with 10,000 objects in less than a second', (_, text) => {
  const selector = parseLabelSelector(text);
  let matched = 0;
  const ms = cpuMsOf(() => {
    matched = 0;
    for (let object = 0; object < 10_000; object++) if (selector.matches({ app: 'web', tier: 'x' })) matched++;
  });
  expect(matched).toBe(10_000);
  expect(ms).toBeLessThan(1000);
});

it('an error about many invalid values lists 100 of them', () => {
  const bad = `a in (${Array.from({ length: 20_000 }, (_, index) => `-${index}`).join(',')})`;
  expect(() => parseLabelSelector(bad)).toThrow(/^unable to parse requirement: \[values\[0\]\[a\]: Invalid value/);
  try {
    parseLabelSelector(bad);
  } catch (error) {
    expect((error as Error).message.split('Invalid value').length - 1).toBe(100);
  }
});

import { namingProfile } from '../../config/naming-profile.js';
import { Evaluators } from './evaluators.js';

const custom = (n: number) => ({ group: `g${n}.example.com`, resource: 'things' });

it('counts objects of custom kinds, and keeps the evaluators of those that are in use', () => {
  const evaluators = new Evaluators(namingProfile('kubernetes'));
  const first = evaluators.of(custom(0));
  expect(first!.countedNames).toEqual(['count/things.g0.example.com']);
  for (let n = 1; n < 10_000; n++) {
    evaluators.of(custom(n));
    expect(evaluators.of(custom(0))).toBe(first);
  }
});

it('forgets the evaluators of custom kinds that are gone', () => {
  const evaluators = new Evaluators(namingProfile('kubernetes'));
  const first = evaluators.of(custom(0));
  for (let n = 1; n < 10_000; n++) evaluators.of(custom(n));
  expect(evaluators.of(custom(0))).not.toBe(first);
});

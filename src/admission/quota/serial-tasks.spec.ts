import { Turns } from './serial-tasks.js';

it('one name, one at a time and in order; another name at once', async () => {
  const turns = new Turns();
  const told: string[] = [];
  const task =
    (name: string, steps: number, fails = false) =>
    async () => {
      told.push(`${name} begins`);
      for (let step = 0; step < steps; step++) await Promise.resolve();
      told.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    };
  const outcomes = await Promise.allSettled([
    turns.take('a', task('a1', 9)),
    turns.take('a', task('a2', 1, true)),
    turns.take('b', task('b1', 1)),
    turns.take('a', task('a3', 1)),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  expect(told.filter((text) => text.startsWith('a'))).toEqual(
    ['a1', 'a2', 'a3'].flatMap((name) => [`${name} begins`, `${name} ends`]),
  );
  expect(told.indexOf('b1 ends')).toBeLessThan(told.indexOf('a1 ends'));
});

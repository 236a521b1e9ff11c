import { SerialTasks } from './serial-tasks.js';

it('runs tasks of one key in order, one at a time and also after a failure; other keys do not wait', async () => {
  const tasks = new SerialTasks();
  const log: string[] = [];
  const task =
    (name: string, steps: number, fails = false) =>
    async () => {
      log.push(`${name} begins`);
      for (let step = 0; step < steps; step++) await Promise.resolve();
      log.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    };
  const outcomes = await Promise.allSettled([
    tasks.run('a', task('a1', 9)),
    tasks.run('a', task('a2', 1, true)),
    tasks.run('b', task('b1', 1)),
    tasks.run('a', task('a3', 1)),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  expect(log.filter((text) => text.startsWith('a'))).toEqual(
    ['a1', 'a2', 'a3'].flatMap((name) => [`${name} begins`, `${name} ends`]),
  );
  expect(log.indexOf('b1 ends')).toBeLessThan(log.indexOf('a1 ends'));
});

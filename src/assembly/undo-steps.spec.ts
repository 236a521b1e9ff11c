import { UndoSteps } from './undo-steps.js';

function stepsThatFailAt(...failing: readonly string[]) {
  const done: string[] = [];
  const undo = new UndoSteps();
  for (const name of ['store', 'certificates', 'listener']) {
    undo.add(() => {
      if (failing.includes(name)) throw new Error(name);
      done.push(name);
    });
  }
  return { undo, done };
}

test('steps run once, the last one first', async () => {
  const { undo, done } = stepsThatFailAt();
  await undo.run();
  await undo.run();
  expect(done).toEqual(['listener', 'certificates', 'store']);
});

test('all other steps run if some fail; then the first error is thrown', async () => {
  const { undo, done } = stepsThatFailAt('listener', 'certificates');
  await expect(undo.run()).rejects.toThrow('listener');
  expect(done).toEqual(['store']);
});

test('all other steps run if the errors are taken', async () => {
  const { undo, done } = stepsThatFailAt('certificates');
  const errors: unknown[] = [];
  await undo.run((error) => errors.push(error));
  expect(errors).toEqual([new Error('certificates')]);
  expect(done).toEqual(['listener', 'store']);
});

import { awaited, runAwaiting, type Awaiting } from './awaiting.js';

function* sum(...values: (number | Promise<number>)[]): Awaiting<number> {
  let total = 0;
  for (const value of values) total += yield* awaited(value);
  return total;
}

function* tolerant(...values: (number | Promise<number>)[]): Awaiting<string> {
  try {
    return String(yield* sum(...values));
  } catch (error) {
    return (error as Error).message;
  }
}

async function failing(): Promise<number> {
  throw new Error('no number');
}

it('work without promises ends at once', () => {
  expect(runAwaiting(sum(1, 2, 3))).toBe(6);
  expect(runAwaiting(sum())).toBe(0);
});

it('work with promises continues with their values, in order', async () => {
  const running = runAwaiting(sum(1, Promise.resolve(2), 3, Promise.resolve(4)));
  expect(running).toBeInstanceOf(Promise);
  expect(await running).toBe(10);
});

it('an error of a promise is thrown where the work waits for it', async () => {
  expect(await runAwaiting(tolerant(1, failing()))).toBe('no number');
  expect(await runAwaiting(tolerant(Promise.resolve(1), 2))).toBe('3');
  await expect(runAwaiting(sum(1, failing()))).rejects.toThrow('no number');
});

it('an error before the first promise is thrown at once, a later one rejects', async () => {
  function* throwing(first: number | Promise<number>): Awaiting<never> {
    yield* awaited(first);
    throw new Error('after it');
  }
  expect(() => runAwaiting(throwing(1))).toThrow('after it');
  await expect(runAwaiting(throwing(Promise.resolve(1)))).rejects.toThrow('after it');
});

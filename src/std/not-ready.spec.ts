import { NotReady, untilReady } from './not-ready.js';

describe('untilReady', () => {
  it('returns the result of a function that is ready without a promise', () => {
    expect(untilReady(() => 7)).toBe(7);
  });

  it.each([
    [
      'throws',
      (error: Error): number => {
        throw error;
      },
    ],
    ['rejects', (error: Error): Promise<number> => Promise.reject(error)],
  ])('calls a function again that %s because it is not ready', async (...[, fail]) => {
    // prettier-ignore
    let calls = 0;
    const result = untilReady(() => (++calls < 3 ? fail(new NotReady(Promise.resolve())) : calls));
    expect(await result).toBe(3);
  });

  it('rejects with the reason for which nothing will be ready', async () => {
    const failing = untilReady(() => { throw new NotReady(Promise.reject(new Error('refused'))); }); // prettier-ignore
    await expect(failing).rejects.toThrow('refused');
  });

  it('throws other errors at once', () => {
    expect(() => untilReady(() => { throw new Error('other'); })).toThrow('other'); // prettier-ignore
  });

  it('gives up on a function that is never ready', async () => {
    const never = untilReady(() => { throw new NotReady(Promise.resolve()); }); // prettier-ignore
    await expect(never).rejects.toBeInstanceOf(NotReady);
  });
});

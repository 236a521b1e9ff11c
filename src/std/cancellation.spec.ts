import { abortSignalOf, Canceller, type Cancellation } from './cancellation.js';

const gone = new Error('the client closed the connection');

describe('Canceller', () => {
  it('runs each listener once, with the first reason', () => {
    const canceller = new Canceller();
    const calls: unknown[] = [];
    canceller.addEventListener('abort', () => calls.push(canceller.reason));
    expect(canceller.aborted).toBe(false);
    canceller.cancel(gone);
    canceller.cancel(new Error('late'));
    expect(calls).toEqual([gone]);
    expect(canceller.aborted).toBe(true);
  });

  it('does not run a removed listener, and keeps another that was added twice', () => {
    const canceller = new Canceller();
    let calls = 0;
    const listener = () => (calls += 1);
    canceller.addEventListener('abort', listener);
    canceller.addEventListener('abort', listener);
    canceller.removeEventListener('abort', listener);
    canceller.removeEventListener('abort', () => undefined);
    canceller.cancel(gone);
    expect(calls).toBe(1);
  });

  it('lets a listener remove another one during the cancellation', () => {
    const canceller = new Canceller();
    canceller.addEventListener('abort', () => canceller.removeEventListener('abort', () => undefined));
    expect(() => canceller.cancel(gone)).not.toThrow();
  });
});

describe('abortSignalOf', () => {
  it('aborts with the reason of the cancellation, before or after it was created', () => {
    const before = new Canceller();
    const signal = abortSignalOf(before);
    expect(signal.aborted).toBe(false);
    before.cancel(gone);
    expect(signal.reason).toBe(gone);
    const after = new Canceller();
    after.cancel(gone);
    expect(abortSignalOf(after).reason).toBe(gone);
    expect(abortSignalOf(after)).toBe(abortSignalOf(after));
  });

  it('returns an AbortSignal unchanged', () => {
    const { signal } = new AbortController();
    expect(abortSignalOf(signal)).toBe(signal);
  });

  it('follows a cancellation of another class', () => {
    const other = new AbortController();
    const foreign: Cancellation = {
      get aborted() {
        return other.signal.aborted;
      },
      get reason(): unknown {
        return other.signal.reason;
      },
      addEventListener: (type, listener, options) => other.signal.addEventListener(type, listener, options),
      removeEventListener: (type, listener) => other.signal.removeEventListener(type, listener),
    };
    const signal = abortSignalOf(foreign);
    other.abort(gone);
    expect(signal.reason).toBe(gone);
    expect(abortSignalOf(foreign).reason).toBe(gone);
  });
});

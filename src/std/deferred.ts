/** A promise with its resolve and reject functions. */
export class Deferred<T> {
  readonly promise: Promise<T>;
  resolve!: (value: T) => void;
  reject!: (reason: unknown) => void;

  constructor() {
    this.promise = new Promise<T>((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    // Prevents an unhandled rejection if nobody awaits the promise.
    this.promise.catch(() => undefined);
  }
}

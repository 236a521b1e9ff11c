/** A promise and the means to settle it. */
export class Deferred<T> {
  readonly promise: Promise<T>;
  resolve!: (value: T) => void;
  reject!: (reason: unknown) => void;

  constructor() {
    this.promise = new Promise<T>((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    // Whoever waits sees the rejection; a deferred that nobody waits for is not an accident.
    this.promise.catch(() => undefined);
  }
}

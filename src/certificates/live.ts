import type { Logger } from '../std/logger.js';

/** A value that may be replaced while the server runs: a certificate after its renewal, a file after its edit. */
export interface Live<T> {
  current(): T;
  /** Called after each replacement, until the returned function is called. */
  onChange(listener: (value: T) => void): () => void;
}

export class LiveValue<T> implements Live<T> {
  private readonly listeners = new Set<(value: T) => void>();

  constructor(
    private value: T,
    private readonly logger: Logger,
  ) {}

  current(): T {
    return this.value;
  }

  onChange(listener: (value: T) => void): () => void {
    const entry = (value: T) => listener(value);
    this.listeners.add(entry);
    return () => void this.listeners.delete(entry);
  }

  /** One listener's failure must not keep the others on the old value. */
  replace(value: T): void {
    this.value = value;
    for (const listener of [...this.listeners]) {
      try {
        listener(value);
      } catch (error) {
        this.logger.error('a listener failed to take a replaced value', { error });
      }
    }
  }
}

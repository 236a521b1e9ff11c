import type { Logger } from '../std/logger.js';

/** A value that can change while the server runs, for example a renewed certificate or a reloaded file. */
export interface Live<T> {
  current(): T;
  /** Calls `listener` after each change, until the returned function is called. */
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

  /** Replaces the value and calls all listeners, even if one of them fails. */
  replace(value: T): void {
    this.value = value;
    for (const listener of [...this.listeners]) {
      try {
        listener(value);
      } catch (error) {
        this.logger.error('applying a renewed certificate or reloaded file failed; restart the server to apply it', {
          error,
        });
      }
    }
  }
}

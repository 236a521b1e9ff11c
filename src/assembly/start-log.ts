import type { Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';

type Level = 'debug' | 'info' | 'warn' | 'error';

/** Held lines are written after this time, to show why a start is slow. */
const silenceMsMax = 20_000;

/**
 * Holds back log lines while a server starts. If the start fails, main.ts prints one line with the cause, and of the
 * held lines only the warnings are written.
 */
export class StartLog {
  private held: { level: Level; write: () => void }[] | undefined = [];
  private hasFailed = false;
  private readonly timer;
  readonly logger: Logger;

  constructor(target: Logger, clock: Clock) {
    const at =
      (level: Level) =>
      (message: string, fields?: Record<string, unknown>): void => {
        const write = () => (fields === undefined ? target[level](message) : target[level](message, fields));
        if (this.held) this.held.push({ level, write });
        // Other steps of a failed start may still be running; only their warnings are written.
        else if (!this.hasFailed || level === 'warn') write();
      };
    const setVerbosity = target.setVerbosity && ((verbosity: number) => target.setVerbosity!(verbosity));
    const levels = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
    this.logger = { ...levels, ...(setVerbosity && { setVerbosity }) };
    this.timer = clock.after(silenceMsMax, () => this.succeeded());
  }

  /** Writes the held lines; later lines are written at once. */
  succeeded(): void {
    this.release(() => true);
  }

  failed(): void {
    this.hasFailed = true;
    this.release(({ level }) => level === 'warn');
  }

  private release(isKept: (line: { level: Level }) => boolean): void {
    this.timer.cancel();
    const held = this.held ?? [];
    this.held = undefined;
    for (const line of held) if (isKept(line)) line.write();
  }
}

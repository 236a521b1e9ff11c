import type { Clock } from './std/clock.js';
import type { Logger } from './std/logger.js';

type Level = 'debug' | 'info' | 'warn' | 'error';

/** A start that takes longer than this is watched by somebody who wants to know why. */
const silenceMsMax = 20_000;

/**
 * Holds back what is logged while a server starts. A start that fails says why in one line of its own, so the steps up
 * to it are dropped; only warnings are kept, since nothing else tells of them.
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
        // Steps that were under way when another one failed.
        else if (!this.hasFailed || level === 'warn') write();
      };
    const setVerbosity = target.setVerbosity && ((verbosity: number) => target.setVerbosity!(verbosity));
    const levels = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
    this.logger = { ...levels, ...(setVerbosity && { setVerbosity }) };
    this.timer = clock.after(silenceMsMax, () => this.succeeded());
  }

  /** Writes what was held, and everything from now on at once. */
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

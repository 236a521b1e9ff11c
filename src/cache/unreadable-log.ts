import type { Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import type { EncodedObject } from './encoded-object.js';

/** Lines of one resource in a row; the rest of the minute is counted. */
const linesMax = 10;
const pauseMs = 60_000;
const keyLengthMax = 300;
const reasonLengthMax = 300;

/**
 * Reports stored values that cannot be read: one line for each state of each key, with the key, the reason and the size,
 * never with the value. A store full of them costs a few lines a minute.
 */
export class UnreadableLog {
  private lines = 0;
  private leftOut = 0;
  private pauseEndsMs = 0;

  constructor(
    private readonly prefix: string,
    private readonly logger: Logger,
    private readonly clock: Clock,
  ) {}

  report({ key, revision, corruption, storedBytes }: EncodedObject): void {
    const nowMs = this.clock.now();
    if (nowMs >= this.pauseEndsMs) {
      this.tellLeftOut();
      this.lines = 0;
      this.pauseEndsMs = nowMs + pauseMs;
    }
    if (this.lines >= linesMax) return void this.leftOut++;
    this.lines++;
    this.logger.error('a stored object cannot be read and is left out of lists and watches; see docs/shared-etcd.md', {
      key: shortened(key, keyLengthMax),
      revision,
      bytes: storedBytes,
      reason: shortened(corruption?.message ?? '', reasonLengthMax),
    });
  }

  private tellLeftOut(): void {
    if (this.leftOut === 0) return;
    const { prefix, leftOut } = this;
    this.logger.error('more stored objects cannot be read', { prefix, objects: leftOut });
    this.leftOut = 0;
  }
}

const shortened = (text: string, lengthMax: number): string =>
  text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text;

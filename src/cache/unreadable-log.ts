import type { Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import { UntransformableError } from '../storage/value-transforms.js';
import type { EncodedObject } from './encoded-object.js';

/** Lines per resource and minute; further objects are counted. */
const linesMax = 10;
const pauseMs = 60_000;
const keyLengthMax = 300;
const reasonLengthMax = 300;

/**
 * Logs stored values that cannot be decoded, with key, reason and size, but never the value. Rate-limited per resource.
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
      this.logLeftOut();
      this.lines = 0;
      this.pauseEndsMs = nowMs + pauseMs;
    }
    if (this.lines >= linesMax) return void this.leftOut++;
    this.lines++;
    const message =
      corruption instanceof UntransformableError
        ? 'a stored object cannot be decrypted; lists of its resource fail, see docs/encryption.md'
        : 'a stored object cannot be decoded; lists and watches leave it out, see docs/shared-etcd.md';
    this.logger.error(message, {
      key: shortened(key, keyLengthMax),
      revision,
      bytes: storedBytes,
      reason: shortened(corruption?.message ?? '', reasonLengthMax),
    });
  }

  private logLeftOut(): void {
    if (this.leftOut === 0) return;
    const { prefix, leftOut } = this;
    this.logger.error('more stored objects cannot be decoded', { prefix, objects: leftOut });
    this.leftOut = 0;
  }
}

const shortened = (text: string, lengthMax: number): string =>
  text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text;

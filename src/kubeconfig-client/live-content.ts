import { stat } from 'node:fs/promises';
import type { Clock } from '../std/clock.js';
import { readBounded } from './load-kubeconfig.js';
import type { Content } from './kubeconfig.js';

/** Tokens, certificates and keys; a CA bundle of all public CAs has 250 kB. */
const contentBytesMax = 1024 * 1024;
/** A changed file is noticed by the first request after this time. */
const recheckMs = 1_000;

/**
 * Content of a kubeconfig or of a file that it names. The file is read again when it has changed: it is checked at most
 * once a second, by requests. After the first read, errors keep the old content: a file may be replaced in steps.
 */
export class LiveContent {
  private bytes: Buffer | undefined;
  private attributes = '';
  private checkedAtMs = -Infinity;
  private running: Promise<Buffer> | undefined;

  constructor(
    private readonly source: Content,
    /** Subject of messages: `client-key of kubeconfig /etc/a, file /etc/key`. */
    private readonly name: string,
    private readonly clock: Clock,
  ) {}

  read(): Promise<Buffer> {
    if ('data' in this.source) return Promise.resolve(this.source.data);
    const { file } = this.source;
    if (this.bytes && this.clock.monotonicMs() - this.checkedAtMs < recheckMs) return Promise.resolve(this.bytes);
    this.running ??= this.check(file).finally(() => (this.running = undefined));
    return this.running;
  }

  /** Makes the next read() check the file, for example after an answer 401. */
  expire(): void {
    this.checkedAtMs = -Infinity;
  }

  private async check(file: string): Promise<Buffer> {
    try {
      // Read before the content: a change in between makes the next check read again.
      const attributes = await attributesOf(file);
      if (this.bytes === undefined || attributes !== this.attributes) {
        this.bytes = await readBounded(file, contentBytesMax, this.name);
        this.attributes = attributes;
      }
    } catch (error) {
      if (this.bytes === undefined) throw error;
      this.attributes = '';
    }
    this.checkedAtMs = this.clock.monotonicMs();
    return this.bytes;
  }
}

/** Returns the empty string for an unreadable file: reading it fails with a better message. */
async function attributesOf(file: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(':');
  } catch {
    return '';
  }
}

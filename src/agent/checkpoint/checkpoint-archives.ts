import { chmod, lstat, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../std/clock.js';

const directoryMode = 0o700;
const fileMode = 0o600;

/** The archives in the directory `checkpoints` of --root-dir, which contain the memory of processes. */
export class CheckpointArchives {
  /** Paths of archives that are being written. */
  private readonly reserved = new Set<string>();
  /** The newest second of each name that has one of this second or later: earlier ones need not be tried again. */
  private readonly newestSeconds = new Map<string, number>();

  constructor(
    private readonly directory: string,
    private readonly clock: Clock,
  ) {}

  /**
   * Lets `write` create an archive `checkpoint-<name>-<time>.tar`, which only the user of the agent can read, and returns
   * its path. What is left of a failed one is removed.
   */
  async write(name: string, write: (location: string) => Promise<void>): Promise<string> {
    await mkdir(this.directory, { recursive: true, mode: directoryMode });
    // Closes a directory that existed with another mode: other users must not read or replace files in it.
    await chmod(this.directory, directoryMode);
    const location = await this.reserve(name);
    try {
      await write(location);
      const written = await lstat(location).catch(() => undefined);
      if (!written?.isFile()) throw new Error('the runtime reports success, but wrote no archive');
      await chmod(location, fileMode);
      return location;
    } catch (error) {
      await rm(location, { force: true });
      throw error;
    } finally {
      this.reserved.delete(location);
    }
  }

  /** Returns a path that no other archive has: the time is that of a later second if the container has one of this second. */
  private async reserve(name: string): Promise<string> {
    const now = Math.floor(this.clock.now() / 1_000);
    for (const [other, newest] of this.newestSeconds) if (newest < now) this.newestSeconds.delete(other);
    for (;;) {
      const second = Math.max(now, (this.newestSeconds.get(name) ?? 0) + 1);
      this.newestSeconds.set(name, second);
      const time = `${new Date(second * 1_000).toISOString().slice(0, 19)}Z`;
      const location = join(this.directory, `checkpoint-${name}-${time}.tar`);
      if (this.reserved.has(location)) continue;
      this.reserved.add(location);
      if ((await lstat(location).catch(() => undefined)) === undefined) return location;
      this.reserved.delete(location);
    }
  }
}

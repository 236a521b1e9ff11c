const lineEnd = Buffer.from('\r\n');

/**
 * The frames that a watch sends with its next write. Watches that get the same frames share one batch, found by the
 * frame that it ends with, so that its bytes are joined once:
 *
 *   start --a--> [a] --b--> [a b] --c--> [a b c]       for watches of the whole namespace
 *                    --c--> [a c]                      for a watch that the selector hides b from
 */
export class FrameBatch {
  private readonly following = new FollowingBatches();
  private joined: Buffer | undefined = undefined;
  private chunked: Buffer | undefined = undefined;

  constructor(
    private readonly previous: FrameBatch | undefined,
    private readonly frame: Buffer,
    readonly count: number,
    readonly length: number,
  ) {}

  with(frame: Buffer): FrameBatch {
    return this.following.after(this, frame);
  }

  get bytes(): Buffer {
    return (this.joined ??= this.previous ? Buffer.concat(this.frames(), this.length) : this.frame);
  }

  /** The frames as one HTTP/1.1 chunk. */
  get chunk(): Buffer {
    return (this.chunked ??= Buffer.concat([
      Buffer.from(`${this.length.toString(16)}\r\n`),
      ...this.frames(),
      lineEnd,
    ]));
  }

  private frames(): Buffer[] {
    const frames = [this.frame];
    for (let { previous } = this; previous; previous = previous.previous) frames.push(previous.frame);
    return frames.reverse();
  }
}

/** The batches that continue one batch, or begin, by their last frame. */
export class FollowingBatches {
  private latest: { readonly frame: Buffer; readonly batch: FrameBatch } | undefined = undefined;
  private older: Map<Buffer, FrameBatch> | undefined = undefined;

  after(previous: FrameBatch | undefined, frame: Buffer): FrameBatch {
    if (this.latest?.frame === frame) return this.latest.batch;
    const { count, length } = previous ?? { count: 0, length: 0 };
    const batch = this.older?.get(frame) ?? new FrameBatch(previous, frame, count + 1, length + frame.length);
    if (this.latest) (this.older ??= new Map<Buffer, FrameBatch>()).set(this.latest.frame, this.latest.batch);
    this.latest = { frame, batch };
    return batch;
  }

  clear(): void {
    this.latest = undefined;
    this.older = undefined;
  }
}

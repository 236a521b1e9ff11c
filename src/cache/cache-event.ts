import type { Revision } from '../machinery/revision.js';
import type { SortedView } from '../std/sorted-map.js';
import type { Attributes, EncodedObject, Rendering } from './encoded-object.js';

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

interface Frame {
  readonly renderingId: string;
  readonly type: ChangeType;
  readonly moment: number | undefined;
  readonly bytes: Buffer;
}

/** One change of one object. Every watcher that sees it in the same way sends the same buffer. */
export class CacheEvent {
  /** The resource's state before this event, when somebody may come back to it. */
  stateBefore: SortedView<EncodedObject> | undefined = undefined;
  private frames: Frame[] | undefined = undefined;
  private departed: EncodedObject | undefined = undefined;
  private keepsFrames = true;

  constructor(
    readonly revision: Revision,
    readonly key: string,
    readonly previous: EncodedObject | undefined,
    readonly current: EncodedObject | undefined,
    readonly timeMs: number,
  ) {}

  /** What only this event keeps in memory. */
  get bytes(): number {
    return eventOverheadBytes + (this.previous ? this.previous.bytes.length : 0);
  }

  /**
   *   before \ after   matches     does not
   *   matches          MODIFIED    DELETED
   *   does not         ADDED       nothing
   *
   * An absent object matches nothing, and neither does one that cannot be read.
   */
  typeFor(matches: ((attributes: Attributes) => boolean) | undefined): ChangeType | undefined {
    const { previous, current } = this;
    const did = previous !== undefined && !previous.corruption && (!matches || matches(previous.attributes));
    const does = current !== undefined && !current.corruption && (!matches || matches(current.attributes));
    if (does) return did ? 'MODIFIED' : 'ADDED';
    return did ? 'DELETED' : undefined;
  }

  frame(rendering: Rendering, type: ChangeType): Buffer {
    const moment = rendering.moment?.();
    const at = this.frames?.findIndex((frame) => frame.renderingId === rendering.id && frame.type === type) ?? -1;
    const known = this.frames?.[at];
    if (known && known.moment === moment) return known.bytes;
    const bytes = rendering.frame(type, this.shown(type).rendered(rendering));
    if (!this.keepsFrames) return bytes;
    this.frames ??= [];
    this.frames[known ? at : this.frames.length] = { renderingId: rendering.id, type, moment, bytes };
    return bytes;
  }

  /** From here on only laggards ask: frames are made for each of them, and not kept. */
  forgetFrames(): void {
    this.keepsFrames = false;
    this.frames = undefined;
    this.departed = undefined;
  }

  private shown(type: ChangeType): EncodedObject {
    if (type !== 'DELETED') return this.current!;
    const departed = this.departed ?? this.previous!.at(this.revision);
    if (this.keepsFrames) this.departed = departed;
    return departed;
  }
}

/** The event itself, its place in the ring and the attributes of the state before; measured by bench/micro/cache-apply. */
const eventOverheadBytes = 512;

import type { Revision } from '../machinery/revision.js';
import type { SortedView } from '../std/sorted-map.js';
import type { Attributes, EncodedObject, Rendering } from './encoded-object.js';

type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

interface Frame {
  readonly renderingId: string;
  readonly type: ChangeType;
  readonly timeBucket: number | undefined;
  readonly bytes: Buffer;
}

/** One change of one object. Watchers with the same rendering and event type share one buffer. */
export class CacheEvent {
  /** The state of the resource before this event, kept for lists at old revisions. */
  stateBefore: SortedView<EncodedObject> | undefined = undefined;
  private frames: Frame[] | undefined = undefined;
  private deletedState: EncodedObject | undefined = undefined;
  private keepsFrames = true;

  constructor(
    readonly revision: Revision,
    readonly key: string,
    readonly previous: EncodedObject | undefined,
    readonly current: EncodedObject | undefined,
    readonly timeMs: number,
  ) {}

  /** The memory that only this event retains. */
  get bytes(): number {
    return eventOverheadBytes + (this.previous ? this.previous.byteLength : 0);
  }

  /**
   * Returns the type of the watch event for a selector; undefined if the watcher sees nothing.
   *
   *   before \ after   matches     does not
   *   matches          MODIFIED    DELETED
   *   does not         ADDED       nothing
   *
   * An absent or unreadable object matches nothing.
   */
  typeFor(matches: ((attributes: Attributes) => boolean) | undefined): ChangeType | undefined {
    const { previous, current } = this;
    const did = previous !== undefined && !previous.corruption && (!matches || matches(previous.attributes));
    const does = current !== undefined && !current.corruption && (!matches || matches(current.attributes));
    if (does) return did ? 'MODIFIED' : 'ADDED';
    return did ? 'DELETED' : undefined;
  }

  frame(rendering: Rendering, type: ChangeType): Buffer {
    const timeBucket = rendering.timeBucket?.();
    const at = this.frameIndex(rendering.id, type);
    const known = this.frames?.[at];
    if (known && known.timeBucket === timeBucket) return known.bytes;
    const bytes = rendering.frame(type, this.stateFor(type).rendered(rendering));
    if (!this.keepsFrames) return bytes;
    this.frames ??= [];
    this.frames[at] = { renderingId: rendering.id, type, timeBucket, bytes };
    return bytes;
  }

  /**
   * Drops the frames. From now on only lagging watchers read this event; frames are rendered for each of them and not
   * kept.
   */
  forgetFrames(): void {
    this.keepsFrames = false;
    this.frames = undefined;
    this.deletedState = undefined;
  }

  /** Returns the index of the frame, or the number of frames. A loop, since it runs for each watcher and event. */
  private frameIndex(renderingId: string, type: ChangeType): number {
    const { frames } = this;
    if (!frames) return 0;
    let at = 0;
    while (at < frames.length && (frames[at]!.renderingId !== renderingId || frames[at]!.type !== type)) at++;
    return at;
  }

  private stateFor(type: ChangeType): EncodedObject {
    if (type !== 'DELETED') return this.current!;
    const departed = this.deletedState ?? this.previous!.at(this.revision);
    if (this.keepsFrames) this.deletedState = departed;
    return departed;
  }
}

/** The event, its slot in the ring and the attributes of the previous state; measured by bench/micro/cache-apply. */
const eventOverheadBytes = 512;

/** An object that keeps renderings. */
export interface RenderedObject {
  /** The tick in which a rendering was last read. */
  readonly renderedAt: number;
  /** Drops the renderings that cost little to make again, and returns their size. */
  dropRenderings(): number;
}

/**
 * Limits the memory of the renderings that cached objects keep. Those that nobody has read for a while are dropped; while
 * there are too many, further ones are not kept, so that a list of everything does not displace the ones in use.
 */
export class RenderingMemory {
  /** Moves on with each tick. */
  now = 0;
  private objects: RenderedObject[] = [];
  private bytes = 0;

  hasRoomFor(bytes: number): boolean {
    return this.bytes + bytes <= renderingBytesMax;
  }

  /** Accounts for a rendering of an object. */
  add(object: RenderedObject, bytes: number, isFirst: boolean): void {
    this.bytes += bytes;
    if (isFirst) this.objects.push(object);
  }

  /** Called every few seconds. */
  tick(): void {
    this.now++;
    this.objects = this.objects.filter((object) => {
      if (object.renderedAt >= this.now - unreadTicksMax) return true;
      this.bytes -= object.dropRenderings();
      return false;
    });
  }
}

const renderingBytesMax = 64 * 1024 * 1024;
/** A minute. */
const unreadTicksMax = 12;

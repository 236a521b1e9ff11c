import { ManualClock } from '../std/clock.js';
import type { FrameBatch } from './frame-batch.js';
import { WatchWrites } from './watch-writes.js';

/** A watch that records what each of its writes contains. */
class RecordedWatch {
  readonly written: Buffer[] = [];
  private pending: FrameBatch | undefined = undefined;

  constructor(
    private readonly writes: WatchWrites,
    private readonly onFlush: () => void = () => undefined,
  ) {}

  write(frame: Buffer): void {
    this.pending = this.pending?.with(frame) ?? this.writes.begin(this, frame);
  }

  flush(): number {
    const { count = 0, bytes } = this.pending ?? {};
    if (bytes) this.written.push(bytes);
    this.pending = undefined;
    this.onFlush();
    return count;
  }
}

const iteration = () => new Promise((resolve) => setImmediate(resolve));
const [a, b, c] = ['a', 'bb', 'c'].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer];

describe('watch writes', () => {
  test('frames of one iteration of the event loop are one write, in order', async () => {
    const watch = new RecordedWatch(new WatchWrites(new ManualClock()));
    for (const frame of [a, b, c]) watch.write(frame);
    expect(watch.written).toEqual([]);
    await iteration();
    expect(watch.written.map(String)).toEqual(['abbc']);
  });

  test('watches with the same frames share the bytes of the write', async () => {
    const writes = new WatchWrites(new ManualClock());
    const watches = Array.from({ length: 3 }, () => new RecordedWatch(writes));
    for (const frame of [a, b]) for (const watch of watches) watch.write(frame);
    await iteration();
    const [first, ...others] = watches.map(({ written }) => written[0]);
    expect(String(first)).toBe('abb');
    for (const other of others) expect(other).toBe(first);
  });

  test('watches with different frames get their own', async () => {
    const writes = new WatchWrites(new ManualClock());
    const sequences = [[a, b, c], [a, c], [b], [a, b], [c, a]];
    const watches = sequences.map(() => new RecordedWatch(writes));
    const most = Math.max(...sequences.map(({ length }) => length));
    for (let at = 0; at < most; at++) {
      sequences.forEach((frames, index) => {
        if (at < frames.length) watches[index]!.write(frames[at]!);
      });
    }
    await iteration();
    expect(watches.map(({ written }) => written.map(String))).toEqual([['abbc'], ['ac'], ['bb'], ['abb'], ['ca']]);
  });

  test('a round of many watches lets the event loop continue', async () => {
    const clock = new ManualClock();
    const writes = new WatchWrites(clock);
    let flushed = 0;
    const watches = Array.from({ length: 64 }, () => new RecordedWatch(writes, () => (flushed++, clock.advance(1))));
    for (const watch of watches) watch.write(a);
    await iteration();
    expect(flushed).toBeLessThan(watches.length);
    while (flushed < watches.length) await iteration();
    expect(watches.map(({ written }) => written.map(String))).toEqual(watches.map(() => ['a']));
  });

  test('frames wait for others if rounds take more than half of the time', async () => {
    const clock = new ManualClock();
    const writes = new WatchWrites(clock);
    const watch = new RecordedWatch(writes, () => clock.advance(8));
    watch.write(a);
    await iteration();
    clock.advance(1);
    watch.write(b);
    await iteration();
    watch.write(c);
    await iteration();
    expect(watch.written.map(String)).toEqual(['a']);
    clock.advance(8);
    expect(watch.written.map(String)).toEqual(['a', 'bbc']);
  });

  test('a frame after a pause waits for the end of the iteration only', async () => {
    const clock = new ManualClock();
    const watch = new RecordedWatch(new WatchWrites(clock), () => clock.advance(8));
    watch.write(a);
    await iteration();
    clock.advance(9);
    watch.write(b);
    await iteration();
    expect(watch.written.map(String)).toEqual(['a', 'bb']);
  });

  test('an HTTP/1.1 chunk has the length of all its frames', async () => {
    const writes = new WatchWrites(new ManualClock());
    const watch = { flush: () => 0 };
    expect(String(writes.begin(watch, a).with(b).chunk)).toBe('3\r\nabb\r\n');
    await iteration();
  });
});

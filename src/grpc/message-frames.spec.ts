import fc from 'fast-check';
import { MessageFrames } from './message-frames.js';

function frame(message: Uint8Array): Buffer {
  const header = Buffer.alloc(5);
  header.writeUInt32BE(message.length, 1);
  return Buffer.concat([header, message]);
}

describe('MessageFrames', () => {
  it('finds the messages in chunks of every size', () => {
    const message = fc.uint8Array({ maxLength: 200 });
    fc.assert(
      fc.property(fc.array(message, { maxLength: 8 }), fc.array(fc.integer({ min: 1, max: 60 })), (messages, sizes) => {
        const got: Buffer[] = [];
        const frames = new MessageFrames((one) => void got.push(one));
        const bytes = Buffer.concat(messages.map(frame));
        let at = 0;
        for (const size of [...sizes, bytes.length]) {
          if (at < bytes.length) frames.push(bytes.subarray(at, at + size));
          at += size;
        }
        expect(got.map((one) => [...one])).toEqual(messages.map((one) => [...one]));
        expect(frames.isPending).toBe(false);
      }),
    );
  });

  it('reports an incomplete message, and does not copy a complete one', () => {
    const got: Buffer[] = [];
    const frames = new MessageFrames((one) => void got.push(one));
    const bytes = frame(Buffer.from('abc'));
    frames.push(Buffer.concat([bytes, bytes.subarray(0, 6)]));
    expect([got.length, frames.isPending]).toEqual([1, true]);
    frames.push(bytes.subarray(6));
    expect([got.map(String), frames.isPending]).toEqual([['abc', 'abc'], false]);
    frames.push(bytes);
    expect(got[2]!.buffer).toBe(bytes.buffer);
  });

  it.each([
    ['compressed', [1, 0, 0, 0, 0], 13],
    ['too long', [0, 0xff, 0, 0, 0], 8],
  ])('rejects a message that is %s', (_, header, code) => {
    const frames = new MessageFrames(() => undefined);
    expect(() => frames.push(Buffer.from(header))).toThrow(expect.objectContaining({ name: expect.any(String), code }));
  });
});

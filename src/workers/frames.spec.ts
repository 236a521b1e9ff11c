import { createHash } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { SeededRng } from '../std/rng.js';
import { FrameReader } from './frame-reader.js';
import { FrameWriter } from './frame-writer.js';

test('frames of all sizes arrive whole and in order, however the stream is cut', async () => {
  const rng = new SeededRng(5);
  const stream = new PassThrough();
  const writer = new FrameWriter(stream);
  const sizes = [0, 1, 4_095, 4_096, 4_097, 65_000, 65_536, 70_000, 300_000];
  const sent = Array.from({ length: 200 }, (_, at) => ({
    number: at % 3 === 0 ? Number.MAX_SAFE_INTEGER - at : at,
    text: 'é'.repeat(rng.below(at % 7 === 0 ? 5_000 : 50)),
    data: Buffer.alloc(sizes[rng.below(sizes.length)]!, at),
  }));
  for (const [at, { number, text, data }] of sent.entries()) {
    writer.begin(20, at).number(number).text(text).data(data).end();
  }
  writer.flush();
  stream.end();
  const received: unknown[] = [];
  const reader = new FrameReader((kind, call, body) => {
    received.push({ kind, call, number: body.number(), text: body.text(), data: digestOf(body.data()) });
  });
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    for (let at = 0; at < chunk.length;) {
      const end = at + 1 + rng.below(rng.below(4) === 0 ? 3 : 20_000);
      reader.push(chunk.subarray(at, end));
      at = end;
    }
  }
  expect(received).toEqual(sent.map(({ data, ...one }, call) => ({ kind: 20, call, ...one, data: digestOf(data) })));
});

/** Buffers of megabytes are compared byte by byte for half a minute. */
const digestOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

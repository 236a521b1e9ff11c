import { createReadStream } from 'node:fs';
import { reasonOf } from '../kubeconfig-client/client-error.js';
import {
  lineBytesMax,
  parseRecordingLine,
  recordingHeader,
  RecordingError,
  type RecordingLine,
} from './recording-lines.js';

/** A line with its number in the file. */
interface NumberedLine {
  readonly number: number;
  readonly line: RecordingLine;
}

/** Yields the lines of a recording, one at a time. Throws RecordingError. */
export async function* readRecording(path: string): AsyncGenerator<NumberedLine> {
  let number = 0;
  for await (const bytes of linesOf(path)) {
    number++;
    if (number === 1) {
      if (bytes.toString('utf8') !== recordingHeader) throw new RecordingError(`${path} is not a recording`);
    } else if (bytes.length > 0) {
      yield { number, line: parseRecordingLine(bytes, `${path}, line ${number}`) };
    }
  }
  if (number === 0) throw new RecordingError(`${path} is not a recording`);
}

async function* linesOf(path: string): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = [];
  let length = 0;
  let number = 1;
  try {
    for await (let chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10)) {
        yield Buffer.concat([...chunks, chunk.subarray(0, end)]);
        number++;
        chunks = [];
        length = 0;
        chunk = chunk.subarray(end + 1);
      }
      length += chunk.length;
      if (length > lineBytesMax) {
        throw new RecordingError(`${path}, line ${number}: longer than ${lineBytesMax} bytes`);
      }
      if (chunk.length > 0) chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof RecordingError) throw error;
    throw new RecordingError(`${path} cannot be read: ${reasonOf(error)}`);
  }
  // A recorder that was killed leaves an incomplete last line.
  if (length > 0) throw new RecordingError(`${path}, line ${number}: incomplete; remove it to replay the others`);
}

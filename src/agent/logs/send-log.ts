import type { Writable } from 'node:stream';
import { isHttp2Response, type AnyResponse } from '../../connections/raw-messages.js';
import type { Cancellation } from '../../std/cancellation.js';
import { sleep, type Clock } from '../../std/clock.js';
import { LogFile } from './log-file.js';
import { parseLogLine } from './log-line.js';
import type { LogOptions } from './log-options.js';

interface LogSource {
  readonly path: string;
  /** True as long as the container may write. Asked at the end of the file. */
  readonly isGrowing: () => Promise<boolean>;
  readonly clock: Clock;
}

/** Interval of looking for new lines. */
const pollMs = 200;
/** Looks at the end of a file between two questions to the runtime whether the container still runs. */
const pollsPerQuestion = 5;
const lineEnd = Buffer.from('\n');

/** Sends the lines of a log file, no faster than the client reads. Rejects if the file cannot be read. */
export async function sendLog(
  { path, isGrowing, clock }: LogSource,
  options: LogOptions,
  response: AnyResponse,
  signal: Cancellation,
): Promise<void> {
  const file = await LogFile.open(path);
  try {
    if (options.tailLines !== undefined) await file.seekTail(options.tailLines);
    response.statusCode = 200;
    response.setHeader('Content-Type', 'text/plain; charset=utf-8');
    response.setHeader('X-Content-Type-Options', 'nosniff');
    const sink = new LogSink(response, options);
    // A client that follows an empty log waits for the head.
    if (isHttp2Response(response)) response.writeHead(200);
    else response.flushHeaders();
    let mayGrow = options.follows;
    for (let polls = 0; !sink.isFull && !signal.aborted && !response.destroyed;) {
      const lines = await file.lines();
      if (lines.length > 0) {
        await sink.write(lines);
        continue;
      }
      if (await file.hasRotated()) continue;
      // Lines of the time until the container ended have been written when the runtime says so: they are read once more.
      if (!mayGrow) break;
      if (++polls % pollsPerQuestion === 0) mayGrow = await isGrowing();
      if (mayGrow) await sleep(clock, pollMs, signal).catch(() => undefined);
    }
    response.end();
  } finally {
    await file.close();
  }
}

class LogSink {
  private left: number;
  private isLineStart = true;

  constructor(
    private readonly response: AnyResponse,
    private readonly options: LogOptions,
  ) {
    this.left = options.bytesMax ?? Infinity;
  }

  get isFull(): boolean {
    return this.left <= 0;
  }

  async write(lines: readonly Buffer[]): Promise<void> {
    const { hasTimestamps, sinceMs, stream } = this.options;
    const parts: Buffer[] = [];
    for (const bytes of lines) {
      const line = parseLogLine(bytes);
      if (!line) continue;
      if (sinceMs !== undefined && Date.parse(line.time) < sinceMs) continue;
      if (stream !== 'All' && stream.toLowerCase() !== line.stream) continue;
      if (hasTimestamps && this.isLineStart) parts.push(Buffer.from(`${line.time} `));
      parts.push(line.text);
      if (!line.isPartial) parts.push(lineEnd);
      this.isLineStart = !line.isPartial;
    }
    const whole = Buffer.concat(parts);
    const sent = whole.length > this.left ? whole.subarray(0, this.left) : whole;
    this.left -= sent.length;
    if (sent.length === 0 || this.response.destroyed) return;
    if ((this.response as Writable).write(sent)) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        this.response.off('drain', done);
        this.response.off('close', done);
        resolve();
      };
      this.response.on('drain', done);
      this.response.on('close', done);
    });
  }
}

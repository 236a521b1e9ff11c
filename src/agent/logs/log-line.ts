/** A line of a log file of the CRI: `2026-01-02T03:04:05.678901234Z stdout F text`. */
interface LogLine {
  readonly time: string;
  readonly stream: 'stdout' | 'stderr';
  /** True for a part of a line, which the next entry of the stream continues. */
  readonly isPartial: boolean;
  readonly text: Buffer;
}

const space = 0x20;

/** Parses a line without its line feed; undefined if it has another format. */
export function parseLogLine(line: Buffer): LogLine | undefined {
  const first = line.indexOf(space);
  const second = line.indexOf(space, first + 1);
  if (first <= 0 || second < 0) return undefined;
  const third = line.indexOf(space, second + 1);
  const stream = line.toString('latin1', first + 1, second);
  if (stream !== 'stdout' && stream !== 'stderr') return undefined;
  // The tag may have more parts, of which the first counts; the text may be absent.
  const tags = line.toString('latin1', second + 1, third < 0 ? line.length : third);
  const time = line.toString('latin1', 0, first);
  if (Number.isNaN(Date.parse(time))) return undefined;
  const text = third < 0 ? line.subarray(line.length) : line.subarray(third + 1);
  return { time, stream, isPartial: tags.split(':')[0] === 'P', text };
}

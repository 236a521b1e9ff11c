import { decodeJson } from '../codec/json.js';
import { isJsonObject, type JsonObject } from '../machinery/kube-object.js';
import { DecodeError } from '../std/decode-error.js';
import { contentBytesMax } from './recorded-content.js';
import { redact } from './redact.js';
import type { RecordingFile } from './recording-file.js';

/** Writes the events of a watch as they come. Bookmarks are left out: servers choose their times. */
export class WatchRecorder {
  private chunks: Buffer[] = [];
  private length = 0;
  private isTooLong = false;

  constructor(
    private readonly id: number,
    private readonly file: RecordingFile,
    private readonly sinceBegin: () => number,
  ) {}

  /** Resolves when the events that end in the chunk are in the file. */
  async add(chunk: Buffer): Promise<void> {
    let rest = chunk;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      this.keep(rest.subarray(0, end));
      await this.endLine();
      rest = rest.subarray(end + 1);
    }
    if (rest.length > 0) this.keep(rest);
  }

  async end(): Promise<void> {
    await this.file.write({ watch: this.id, atMs: this.sinceBegin(), ended: true });
  }

  private keep(chunk: Buffer): void {
    this.length += chunk.length;
    if (this.length > contentBytesMax) this.isTooLong = true;
    if (this.isTooLong) this.chunks = [];
    else this.chunks.push(chunk);
  }

  private async endLine(): Promise<void> {
    const line = Buffer.concat(this.chunks);
    const isTooLong = this.isTooLong;
    this.chunks = [];
    this.length = 0;
    this.isTooLong = false;
    if (isTooLong) return this.write({ type: omittedType, reason: `more than ${contentBytesMax} bytes` });
    if (line.length === 0) return;
    let value;
    try {
      value = decodeJson(line);
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
    }
    if (!isJsonObject(value)) return this.write({ type: omittedType, reason: 'not a JSON object' });
    if (value['type'] === 'BOOKMARK') return;
    const { value: event } = redact(value, { isSecret: false });
    if (isJsonObject(event)) await this.write(event);
  }

  private write(event: JsonObject): Promise<void> {
    return this.file.write({ watch: this.id, atMs: this.sinceBegin(), event });
  }
}

/** The type of an event that cannot be recorded: a replay names it as different. */
const omittedType = 'OMITTED';

import { decodeJson } from '../codec/json.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../machinery/kube-object.js';
import { DecodeError } from '../std/decode-error.js';

/** A body as it is recorded. `omitted` says why it is not. */
export interface RecordedContent {
  readonly json?: JsonValue;
  readonly text?: string;
  readonly omitted?: string;
}

export interface RecordedRequest extends RecordedContent {
  readonly method: string;
  /** Path and query, encoded. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Why a replay cannot send it. */
  readonly unrepeatable?: string;
}

export interface RecordedAnswer extends RecordedContent {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** A request and its answer; the events of a watch follow in lines of their own. */
export interface ExchangeLine {
  readonly id: number;
  readonly atMs: number;
  readonly request: RecordedRequest;
  readonly answer: RecordedAnswer;
  readonly isWatch?: true;
}

interface EventLine {
  /** The id of the exchange. */
  readonly watch: number;
  readonly atMs: number;
  readonly event: JsonObject;
}

interface WatchEndLine {
  readonly watch: number;
  readonly atMs: number;
  readonly ended: true;
}

export type RecordingLine = ExchangeLine | EventLine | WatchEndLine;

/** The first line of a recording. */
export const recordingHeader = '{"keelsonRecording":1}';
/** Longer lines are not written, and refused when read. */
export const lineBytesMax = 32 * 1024 * 1024;

/** The request headers that are recorded. Others, such as credentials, are those of the client that replays. */
export const requestHeaderName = /^(accept|content-type|user-agent|impersonate-[!-~]{1,200})$/;
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/** A recording that cannot be written or read. Messages name the file and the line. */
export class RecordingError extends Error {
  override readonly name = 'RecordingError';
}

/** Decodes a line and checks every field that a replay uses. */
export function parseRecordingLine(bytes: Uint8Array, location: string): RecordingLine {
  let line: JsonValue;
  try {
    line = decodeJson(bytes);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new RecordingError(`${location}: ${error.message}`);
  }
  const check = new Fields(line, location);
  if (isJsonObject(line) && line['watch'] !== undefined) {
    check.number('watch');
    if (line['ended'] !== true) check.object('event');
    return line as unknown as EventLine | WatchEndLine;
  }
  check.number('id');
  const request = check.object('request');
  request.text('method', /^[A-Z]{1,20}$/);
  request.text('path', /^\/[\x21-\x7e]*$/);
  request.headers(requestHeaderName);
  request.optionalText('text');
  request.optionalText('unrepeatable');
  const answer = check.object('answer');
  answer.number('status');
  answer.headers(/^/);
  return line as unknown as ExchangeLine;
}

class Fields {
  private readonly fields: JsonObject;

  constructor(
    value: JsonValue | undefined,
    private readonly location: string,
    private readonly path = '',
  ) {
    if (!isJsonObject(value)) this.refuse('an object');
    this.fields = value;
  }

  object(name: string): Fields {
    return new Fields(this.own(name), this.location, `${this.path}.${name}`);
  }

  number(name: string): void {
    if (!Number.isSafeInteger(this.own(name))) this.refuse('a whole number', name);
  }

  text(name: string, pattern: RegExp): void {
    const value = this.own(name);
    if (typeof value !== 'string' || !pattern.test(value)) this.refuse(`a text that matches ${pattern.source}`, name);
  }

  optionalText(name: string): void {
    if (this.own(name) !== undefined) this.text(name, /^/);
  }

  headers(names: RegExp): void {
    const headers = this.object('headers');
    for (const [name, value] of Object.entries(headers.fields)) {
      if (!names.test(name)) this.refuse(`an object without ${name.slice(0, 100)}`, 'headers');
      if (typeof value !== 'string' || !headerValue.test(value)) headers.refuse('the text of a header', name);
    }
  }

  private own(name: string): JsonValue | undefined {
    return Object.hasOwn(this.fields, name) ? this.fields[name] : undefined;
  }

  private refuse(wanted: string, name = ''): never {
    const field = `${this.path}${name && `.${name}`}`.slice(1);
    throw new RecordingError(`${this.location}: ${field === '' ? 'the line' : field} must be ${wanted}`);
  }
}

/** A response that is not HTTP/1.x, or whose length is not known for certain. Its connection is closed. */
export class MalformedResponse extends Error {
  override readonly name = 'MalformedResponse';
}

/** A body of more bytes than the limit. */
export class ResponseTooLarge extends Error {
  override readonly name = 'ResponseTooLarge';
}

/** The facts of a head about its response. */
export interface ResponseHead {
  readonly text: string;
  readonly status: number;
  readonly isKept: boolean;
  readonly isChunked: boolean;
  readonly contentLength: number | undefined;
  readonly keepAliveMs: number | undefined;
}

type State = 'head' | 'body' | 'chunk size' | 'chunk' | 'chunk end' | 'trailer' | 'until close' | 'end';

/** As in node:http. */
const headBytesMax = 16 * 1024;
const lineBytesMax = 4 * 1024;
const trailersMax = 100;
const headEnd = Buffer.from('\r\n\r\n');
const lineEnd = Buffer.from('\r\n');
const noBody = Buffer.alloc(0);
const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const headerLine = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[\t ]*([\t\x20-\x7e\x80-\xff]*)$/;
const chunkSizeLine = /^([0-9A-Fa-f]{1,8})[\t ]*(?:;[\t\x20-\x7e\x80-\xff]*)?$/;

export const hasUsableStatus = (status: number): boolean => status >= 200 && status <= 206;

/**
 * Reads one HTTP/1.x response from the bytes of a connection:
 *
 *   head ──── Content-Length ──> body ───────────────────────────────> end
 *     │ └──── chunked ──> chunk size ⇄ chunk, chunk end; trailer ───────┤
 *     │ └──── neither ──> until close ─────── end of the connection ────┤
 *     └────── no body, or a status whose body is of no use ─────────────┘
 *
 * Strict: a response that two readers could take for different ones is refused.
 */
export class ResponseReader {
  status = 0;
  /** True if the connection can carry another request. */
  isReusable = true;
  /** The last head that was read. */
  head: ResponseHead | undefined;
  /** True once bytes have arrived. */
  hasBegun = false;
  private state: State = 'head';
  /** The beginning of a head or of a line. */
  private held: Buffer | undefined = undefined;
  private content: Buffer = noBody;
  private contentLength = 0;
  private left = 0;
  private trailersLeft = trailersMax;

  /** `known` is the head of an earlier response: that of the next one is the same for a second, and is not read again. */
  constructor(
    private readonly bytesMax: number,
    known?: ResponseHead,
  ) {
    this.head = known;
  }

  /** For as long the server keeps an idle connection, as it says; undefined if it does not. */
  get keepAliveMs(): number | undefined {
    return this.head?.keepAliveMs;
  }

  /** Returns true at the end of the response. Throws MalformedResponse or ResponseTooLarge. */
  take(bytes: Buffer): boolean {
    this.hasBegun = true;
    let rest = this.held ? Buffer.concat([this.held, bytes]) : bytes;
    this.held = undefined;
    while (this.state !== 'end' && rest.length > 0) {
      const used = this.step(rest);
      if (used === 0) {
        this.held = rest;
        return false;
      }
      rest = rest.subarray(used);
    }
    if (this.state !== 'end') return false;
    // Bytes after the end belong to no request.
    if (rest.length > 0) this.isReusable = false;
    return true;
  }

  /** Returns true if the end of the connection is that of the response. */
  close(): boolean {
    if (this.state === 'until close') this.state = 'end';
    return this.state === 'end';
  }

  get body(): Buffer {
    return this.content.subarray(0, this.contentLength);
  }

  /** Returns the number of bytes used; 0 if more are needed first. */
  private step(bytes: Buffer): number {
    switch (this.state) {
      case 'body':
      case 'chunk':
        return this.takeContent(bytes);
      case 'until close':
        this.append(bytes);
        return bytes.length;
      case 'head':
        return this.takeHead(bytes);
      default:
        return this.takeLine(bytes);
    }
  }

  private takeHead(bytes: Buffer): number {
    const end = bytes.indexOf(headEnd);
    if (end > headBytesMax || (end < 0 && bytes.length > headBytesMax))
      throw new MalformedResponse('the head is too long');
    if (end < 0) {
      if (!looksLikeHttp(bytes)) throw new MalformedResponse('the answer is not HTTP/1.x');
      return 0;
    }
    const text = bytes.toString('latin1', 0, end);
    if (this.head?.text !== text) this.head = readHead(text);
    const { status, isKept, isChunked, contentLength } = this.head;
    // An interim response; the final one follows.
    if (status < 200) return end + headEnd.length;
    this.status = status;
    this.isReusable = isKept;
    this.begin(status, isChunked, contentLength);
    return end + headEnd.length;
  }

  private begin(status: number, isChunked: boolean, length: number | undefined): void {
    if (!hasUsableStatus(status)) {
      // The body may be long, and has no meaning.
      this.isReusable &&= length === 0;
      this.state = 'end';
    } else if (status === 204) this.state = 'end';
    else if (isChunked) this.state = 'chunk size';
    else if (length === undefined) {
      this.isReusable = false;
      this.state = 'until close';
    } else {
      if (length > this.bytesMax) throw new ResponseTooLarge('the body is too large');
      this.left = length;
      this.state = length === 0 ? 'end' : 'body';
    }
  }

  private takeContent(bytes: Buffer): number {
    const part = bytes.length > this.left ? bytes.subarray(0, this.left) : bytes;
    this.left -= part.length;
    // A body that arrives at once is not copied.
    if (this.state === 'body' && this.left === 0 && this.contentLength === 0) {
      this.content = part;
      this.contentLength = part.length;
    } else this.append(part);
    if (this.left === 0) this.state = this.state === 'body' ? 'end' : 'chunk end';
    return part.length;
  }

  private takeLine(bytes: Buffer): number {
    const end = bytes.indexOf(lineEnd);
    if (end > lineBytesMax || (end < 0 && bytes.length > lineBytesMax))
      throw new MalformedResponse('a line is too long');
    if (end < 0) return 0;
    this.readLine(bytes.toString('latin1', 0, end));
    return end + lineEnd.length;
  }

  private readLine(line: string): void {
    if (this.state === 'chunk size') {
      const size = chunkSizeLine.exec(line)?.[1];
      if (size === undefined) throw new MalformedResponse('the size of a chunk is malformed');
      this.left = parseInt(size, 16);
      if (this.contentLength + this.left > this.bytesMax) throw new ResponseTooLarge('the body is too large');
      this.state = this.left === 0 ? 'trailer' : 'chunk';
    } else if (this.state === 'chunk end') {
      if (line !== '') throw new MalformedResponse('a chunk has not its size');
      this.state = 'chunk size';
    } else if (line === '') this.state = 'end';
    else {
      if (this.trailersLeft-- === 0 || !headerLine.test(line)) throw new MalformedResponse('a trailer is malformed');
    }
  }

  private append(part: Buffer): void {
    const length = this.contentLength + part.length;
    if (length > this.bytesMax) throw new ResponseTooLarge('the body is too large');
    if (length > this.content.length) {
      const grown = Buffer.allocUnsafe(Math.min(Math.max(2 * length, 4096), this.bytesMax));
      this.content.copy(grown, 0, 0, this.contentLength);
      this.content = grown;
    }
    part.copy(this.content, this.contentLength);
    this.contentLength = length;
  }
}

function readHead(text: string): ResponseHead {
  const lines = text.split('\r\n');
  const first = statusLine.exec(lines[0]!);
  if (!first) throw new MalformedResponse('the status line is malformed');
  const status = Number(first[2]);
  let length: number | undefined;
  let keepAliveMs: number | undefined;
  let isChunked = false;
  let isKept = first[1] === '1';
  for (let index = 1; index < lines.length; index++) {
    const header = headerLine.exec(lines[index]!);
    if (!header) throw new MalformedResponse('a header is malformed');
    const value = header[2]!.trimEnd();
    switch (header[1]!.toLowerCase()) {
      case 'content-length':
        if (length !== undefined || !/^\d{1,15}$/.test(value))
          throw new MalformedResponse('Content-Length is malformed');
        length = Number(value);
        break;
      case 'transfer-encoding':
        // Others than chunked are sent to clients only that ask for them.
        if (isChunked || value.toLowerCase() !== 'chunked') throw new MalformedResponse('unknown Transfer-Encoding');
        isChunked = true;
        break;
      case 'connection':
        for (const option of value.toLowerCase().split(',')) {
          if (option.trim() === 'close') isKept = false;
          else if (option.trim() === 'keep-alive') isKept = true;
        }
        break;
      case 'keep-alive': {
        const seconds = /(?:^|[,\s])timeout=(\d{1,6})/i.exec(value)?.[1];
        if (seconds !== undefined) keepAliveMs = Number(seconds) * 1000;
      }
    }
  }
  if (isChunked && length !== undefined) throw new MalformedResponse('both Content-Length and Transfer-Encoding');
  if (status === 101) throw new MalformedResponse('the protocol was switched without a request');
  return { text, status, isKept, isChunked, contentLength: length, keepAliveMs };
}

const protocol = 'HTTP/1.';

/** False as soon as the first bytes are those of another protocol, so that a call does not wait for more. */
const looksLikeHttp = (bytes: Buffer): boolean =>
  protocol.startsWith(bytes.toString('latin1', 0, Math.min(bytes.length, protocol.length)));

/** Placeholder for eight digits that count up from one request to the next. */
export const counterMark = '@@@@@@@@';

export interface RequestShape {
  readonly method: string;
  readonly path: string;
  /** '' for a request without the Authorization header. */
  readonly token: string;
  readonly body?: string;
}

/** Bytes of a request with a counter that is replaced in place, so that no request has to be built. */
export class RequestTemplate {
  private readonly bytes: Buffer;
  private readonly places: number[] = [];

  constructor({ method, path, token, body = '' }: RequestShape) {
    const lines = [
      `${method} ${path} HTTP/1.1`,
      'Host: localhost',
      'Accept: application/json',
      ...(token === '' ? [] : [`Authorization: Bearer ${token}`]),
      ...(body === '' ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]),
    ];
    this.bytes = Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
    for (let at = this.bytes.indexOf(counterMark); at >= 0; at = this.bytes.indexOf(counterMark, at + 1)) {
      this.places.push(at);
    }
  }

  /** Returns a copy with another counter: a socket may still hold the previous one. */
  numbered(count: number): Buffer {
    if (this.places.length === 0) return this.bytes;
    const copy = Buffer.from(this.bytes);
    const digits = String(count).padStart(counterMark.length, '0');
    for (const place of this.places) copy.write(digits, place, 'latin1');
    return copy;
  }
}

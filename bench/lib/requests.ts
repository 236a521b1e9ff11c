/** Placeholder for eight digits that count up from one request to the next. */
export const counterMark = '@@@@@@@@';
/** Placeholder for eight digits that name one of `objects` objects in turn. */
export const objectMark = '########';

export interface RequestShape {
  readonly method: string;
  readonly path: string;
  /** '' for a request without the Authorization header. */
  readonly token: string;
  readonly body?: string;
  readonly accept?: string;
  readonly contentType?: string;
  readonly objects?: number;
}

const json = 'application/json';

/** Bytes of a request with numbers that are replaced in place, so that no request has to be built. */
export class RequestTemplate {
  private readonly bytes: Buffer;
  private readonly counters: readonly number[];
  private readonly names: readonly number[];
  private readonly objects: number;

  constructor({ method, path, token, body = '', accept = json, contentType = json, objects = 1 }: RequestShape) {
    const lines = [
      `${method} ${path} HTTP/1.1`,
      'Host: localhost',
      `Accept: ${accept}`,
      ...(token === '' ? [] : [`Authorization: Bearer ${token}`]),
      ...(body === '' ? [] : [`Content-Type: ${contentType}`, `Content-Length: ${Buffer.byteLength(body)}`]),
    ];
    this.bytes = Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
    this.counters = this.placesOf(counterMark);
    this.names = this.placesOf(objectMark);
    this.objects = objects;
  }

  /** Returns a copy with another counter: a socket may still hold the previous one. */
  numbered(count: number): Buffer {
    if (this.counters.length + this.names.length === 0) return this.bytes;
    const copy = Buffer.from(this.bytes);
    const digits = (value: number) => String(value).padStart(counterMark.length, '0');
    for (const place of this.counters) copy.write(digits(count), place, 'latin1');
    for (const place of this.names) copy.write(digits(count % this.objects), place, 'latin1');
    return copy;
  }

  private placesOf(mark: string): number[] {
    const places: number[] = [];
    for (let at = this.bytes.indexOf(mark); at >= 0; at = this.bytes.indexOf(mark, at + 1)) places.push(at);
    return places;
  }
}

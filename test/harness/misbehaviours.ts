import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

/** Answers a request in a way that its caller must not take for a review. */
export type Misbehaviour<Review> = (response: ServerResponse, request: IncomingMessage, review: Review) => void;

/** Part of some bodies, which no error and no line of a log may have. */
export const webhookText = 'text-of-the-other-server';

const send = (response: ServerResponse, body: string | Buffer): void =>
  void response.writeHead(200, { 'Content-Type': 'application/json' }).end(body);

/** Answers with a body of its own. */
export const text =
  (body: string | Buffer): Misbehaviour<unknown> =>
  (response) =>
    send(response, body);

/** Sends pieces until the connection is cut, at most 100 MiB. */
function sendEndless(response: ServerResponse, beginning: string): void {
  response.writeHead(200, { 'Content-Type': 'application/json' });
  response.write(beginning);
  let left = 1600;
  const more = () => {
    while (left-- > 0 && !response.destroyed) if (!response.write('x'.repeat(65_536))) return;
  };
  response.on('drain', more);
  more();
}

/** Misbehaviours of webhooks of all kinds, with their titles. `accepting` is the answer that would allow the request. */
export function misbehaviours<Review>(
  accepting: (review: Review) => string,
): readonly (readonly [title: string, misbehave: Misbehaviour<Review>])[] {
  const padded = (review: Review) => `${accepting(review).slice(0, -1)},"padding":"`;
  const code =
    (value: number, headers = {}): Misbehaviour<Review> =>
    (response, _request, review) =>
      void response.writeHead(value, headers).end(accepting(review));
  return [
    ['a list', (response, _request, review) => send(response, `[${accepting(review)}]`)],
    ['an empty body', text('')],
    ['HTML', text(`<html><body>200 OK ${webhookText}</body></html>`)],
    ['bytes that are not UTF-8', text(Buffer.from([0xff, 0xfe, 0x00, 0x7b]))],
    ['two objects', (response, _request, review) => send(response, accepting(review).repeat(2))],
    ['100,000 nested lists', text(`{"status":${'['.repeat(100_000)}`)],
    ['10 MB', (response, _request, review) => send(response, `${padded(review)}${'x'.repeat(10_000_000)}"}`)],
    ['a body without an end', (response, _request, review) => sendEndless(response, padded(review))],
    [
      'a compressed body',
      (response, _request, review) =>
        void response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync(accepting(review))),
    ],
    ...[301, 302, 303, 307, 308].map(
      (value) => [`a redirect with ${value}`, code(value, { Location: '/elsewhere' })] as const,
    ),
    ...[204, 304, 400, 401, 403, 404, 429, 500, 502, 503, 504].map(
      (value) => [`an answer with status ${value}`, code(value)] as const,
    ),
    ['a connection that is closed without an answer', (_response, { socket }) => void socket.destroy()],
    ['a connection that is half closed', (_response, { socket }) => void socket.end()],
    [
      'a body that is shorter than its length',
      (response, { socket }, review) => {
        response.writeHead(200, { 'Content-Length': '1000' }).write(accepting(review));
        socket.end();
      },
    ],
    ['bytes that are not HTTP', (_response, { socket }) => void socket.end(`not HTTP ${webhookText}\r\n\r\n`)],
    ['a head of 1 MB', code(200, { 'X-Padding': 'x'.repeat(1_000_000) })],
  ];
}

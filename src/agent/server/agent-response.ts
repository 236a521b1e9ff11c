import { encodeJson } from '../../codec/json.js';
import type { AnyResponse } from '../../connections/raw-messages.js';

const textType = 'text/plain; charset=utf-8';

export function sendText(response: AnyResponse, status: number, text: string, contentType = textType): void {
  sendBytes(response, status, Buffer.from(text), contentType);
}

export function sendJson(response: AnyResponse, value: unknown): void {
  sendBytes(response, 200, encodeJson(value), 'application/json');
}

function sendBytes(response: AnyResponse, status: number, body: Buffer, contentType: string): void {
  if (response.headersSent || response.destroyed) return;
  response.statusCode = status;
  response.setHeader('Content-Type', contentType);
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('Content-Length', body.length);
  if (response.req.method === 'HEAD') response.end();
  else response.end(body);
}

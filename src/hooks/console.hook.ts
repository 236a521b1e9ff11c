import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { headersFor, sendBytes, sendNotModified, type AnswerHeaders } from '../answers/answer.js';
import { requestLine } from '../connections/unusual-requests.js';
import { ConsoleFiles, consolePath, type ConsoleFile } from '../console/console-files.js';

/**
 * Headers of every file. Scripts and styles come only from this server and are never inline; script cannot turn text
 * into markup (Trusted Types); no other site may frame the page or read the files.
 */
const securityHeaders = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/**
 * Answers GET and HEAD of the console's files before authentication: they hold no data, and the page asks for credentials
 * itself. All other requests, those of unknown files too, continue to the guards.
 */
export function registerConsole(server: FastifyInstance, files = new ConsoleFiles()): void {
  server.addHook('onRequest', (request, reply, done) => {
    const { method, url } = requestLine(request.raw);
    if (!url.startsWith('/console') || (method !== 'GET' && method !== 'HEAD')) return done();
    const queryAt = url.indexOf('?');
    const path = queryAt < 0 ? url : url.slice(0, queryAt);
    if (path === '/console') return redirect(request, reply);
    const file = path.startsWith(consolePath) ? files.get(path) : undefined;
    if (!file) return done();
    send(request, reply, file);
  });
}

function redirect(request: FastifyRequest, reply: FastifyReply): void {
  const headers = { ...headersFor(request, 'text/plain; charset=utf-8'), ...securityHeaders, location: consolePath };
  sendBytes(request, reply, 301, headers, Buffer.from(`see ${consolePath}\n`));
}

function send(request: FastifyRequest, reply: FastifyReply, file: ConsoleFile): void {
  const { 'accept-encoding': accepted = '', 'if-none-match': known } = request.raw.headers;
  const isGzipped = /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/.test(String(accepted));
  const etag = `"${file.tag}${isGzipped ? '-gzip' : ''}"`;
  const headers: AnswerHeaders = {
    ...headersFor(request, file.contentType),
    ...securityHeaders,
    // Browsers keep the file and ask whether it has changed.
    'cache-control': 'no-cache',
    vary: 'Accept-Encoding',
    etag,
    ...(isGzipped && { 'content-encoding': 'gzip' }),
  };
  if (typeof known === 'string' && known.split(',').some((one) => one.trim().replace(/^W\//, '') === etag))
    return sendNotModified(request, reply, headers);
  sendBytes(request, reply, 200, headers, isGzipped ? file.gzipped : file.plain);
}

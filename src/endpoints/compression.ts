import type { FastifyRequest } from 'fastify';
import { promisify } from 'node:util';
import { createGzip, gzip, type Gzip } from 'node:zlib';
import { prefersGzip } from '../codec/content-coding.js';
import type { AnswerHeaders } from '../hooks/answer.js';

/** As the reference server: what is smaller is sent faster than it is made smaller. */
export const compressedBytesMin = 128 * 1024;
/** The fastest one: objects are so repetitive that others hardly make them smaller. */
const level = 1;

const inPool = promisify<Buffer, object, Buffer>(gzip);

/** One object or one list; changes are small, and a watch brings them one by one. */
export function mayCompress(request: FastifyRequest): boolean {
  const { verb } = request.kube.info;
  if (verb !== 'get' && verb !== 'list') return false;
  return request.raw.method === 'GET' && prefersGzip(request.raw.headers['accept-encoding']);
}

/** Off the event loop, as the stream below. */
export function compressed(body: Buffer): Promise<Buffer> {
  return inPool(body, { level });
}

export function compressingStream(): Gzip {
  return createGzip({ level, chunkSize: 64 * 1024 });
}

export function asCompressed(headers: AnswerHeaders): AnswerHeaders {
  return { ...headers, 'content-encoding': 'gzip', vary: 'Accept-Encoding' };
}

import type { FastifyRequest } from 'fastify';
import { promisify } from 'node:util';
import { createGzip, gzip, type Gzip } from 'node:zlib';
import { prefersGzip } from '../codec/content-coding.js';
import type { AnswerHeaders } from './answer.js';

/** Smaller responses are not compressed, as in kube-apiserver: sending them costs less than compressing them. */
export const compressedBytesMin = 128 * 1024;
/** The fastest level. Objects are so repetitive that higher levels gain little. */
const level = 1;

const inPool = promisify<Buffer, object, Buffer>(gzip);

/** True for GET of an object or a list by a client that prefers gzip. Watches are not compressed. */
export function mayCompress(request: FastifyRequest): boolean {
  const { verb } = request.kube.info;
  if (verb !== 'get' && verb !== 'list') return false;
  return request.raw.method === 'GET' && prefersGzip(request.raw.headers['accept-encoding']);
}

/** Compresses in Node's thread pool, off the event loop. */
export function compressed(body: Buffer): Promise<Buffer> {
  return inPool(body, { level });
}

export function compressingStream(): Gzip {
  return createGzip({ level, chunkSize: 64 * 1024 });
}

export function asCompressed(headers: AnswerHeaders): AnswerHeaders {
  return { ...headers, 'content-encoding': 'gzip', vary: 'Accept-Encoding' };
}

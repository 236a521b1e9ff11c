import type { FastifyRequest } from 'fastify';
import { askForBody } from '../connections/expectations.js';
import { ApiError } from '../machinery/api-error.js';

const empty = Buffer.alloc(0);

/** Reads the body, up to a bound. Called after the guards, so that the body of a rejected request is not read. */
export function readBody(request: FastifyRequest, bytesMax: number): Promise<Buffer> {
  const { raw } = request;
  const announced = Number(raw.headers['content-length'] ?? 0);
  if (announced > bytesMax) return Promise.reject(tooLarge(bytesMax));
  // A closed request emits no further events.
  if (raw.destroyed || raw.aborted) return Promise.reject(gone());
  request.kube.begin('body');
  askForBody(raw);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const stop = () => {
      raw.off('data', onData);
      raw.off('end', onEnd);
      raw.off('error', onError);
      raw.off('close', onClose);
    };
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      if (length > bytesMax) {
        stop();
        raw.resume();
        reject(tooLarge(bytesMax));
        return;
      }
      chunks.push(chunk);
    };
    const onEnd = () => {
      stop();
      request.kube.receivedBytes = length;
      resolve(chunks.length === 0 ? empty : chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, length));
    };
    const onError = (error: Error) => {
      stop();
      reject(ApiError.badRequest(`the body could not be read: ${error.message}`, error));
    };
    // Close without end or error: the client aborted, or the connection was reset or closed.
    const onClose = () => {
      stop();
      reject(gone());
    };
    raw.on('data', onData);
    raw.on('end', onEnd);
    raw.on('error', onError);
    raw.on('close', onClose);
  });
}

function gone(): ApiError {
  return ApiError.badRequest('the body could not be read: the client stopped sending');
}

function tooLarge(bytesMax: number): ApiError {
  return ApiError.requestEntityTooLarge(`Request entity too large: limit is ${bytesMax}`);
}

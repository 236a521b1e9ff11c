import type { FastifyReply, FastifyRequest } from 'fastify';
import { headersFor, sendBytes } from '../answers/answer.js';
import type { Logger } from '../std/logger.js';
import { readBody } from './request-body.js';

/** Bound on the body, which is a number. */
const bodyBytesMax = 1024;

/** Answers PUT /debug/flags/v, which sets the log verbosity (`-v`) of the running server. */
export async function answerLogVerbosity(logger: Logger, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const answer = (code: number, text: string) =>
    sendBytes(request, reply, code, headersFor(request, 'text/plain'), Buffer.from(`${text}\n`));
  if (request.raw.method !== 'PUT') return answer(406, 'unsupported http method');
  const text = (await readBody(request, bodyBytesMax)).toString('latin1').trim();
  if (!/^\d{1,9}$/.test(text)) return answer(400, 'the body must be a whole number');
  if (!logger.setVerbosity) return answer(500, 'the verbosity of this logger cannot be changed');
  logger.setVerbosity(Number(text));
  answer(200, `log verbosity set to ${text}`);
}

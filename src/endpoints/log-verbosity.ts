import type { FastifyReply, FastifyRequest } from 'fastify';
import { headersFor, sendBytes } from '../hooks/answer.js';
import type { Logger } from '../std/logger.js';

/** A number is enough: whatever is longer is none. */
const bodyLengthMax = 64;

/** PUT of a number to /debug/flags/v: how much is logged from then on, as `-v` says it at the start. */
export async function answerLogVerbosity(logger: Logger, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const answer = (code: number, text: string) =>
    sendBytes(request, reply, code, headersFor(request, 'text/plain'), Buffer.from(`${text}\n`));
  if (request.raw.method !== 'PUT') return answer(406, 'unsupported http method');
  const text = await bodyOf(request);
  if (!/^\d{1,9}$/.test(text)) return answer(400, 'the body must be a whole number');
  if (!logger.setVerbosity) return answer(500, 'this logger has one verbosity');
  logger.setVerbosity(Number(text));
  answer(200, `log verbosity set to ${text}`);
}

async function bodyOf(request: FastifyRequest): Promise<string> {
  let text = '';
  for await (const chunk of request.raw) {
    text += (chunk as Buffer).toString('latin1');
    if (text.length > bodyLengthMax) break;
  }
  return text.trim();
}

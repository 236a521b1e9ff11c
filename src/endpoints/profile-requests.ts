import { gzip } from 'node:zlib';
import { promisify } from 'node:util';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { headersFor, sendBytes } from '../answers/answer.js';
import { ApiError } from '../machinery/api-error.js';
import type { Profiles } from './profiles.js';

const root = '/debug/pprof';
/** Below the default --request-timeout of a minute, so that there is time for the answer. */
const secondsMax = 50;

const pages: readonly (readonly [name: string, what: string])[] = [
  ['cmdline', 'command line of the process'],
  ['heap', 'memory allocated during ?seconds=N and still in use, for "go tool pprof"'],
  ['profile', 'CPU profile of ?seconds=N, for "go tool pprof"'],
];

/** Answers /debug/pprof/ and the paths below it. */
export class ProfileRequests {
  constructor(
    private readonly profiles: Profiles,
    private readonly isServed: boolean,
  ) {}

  async answer(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { path, query } = request.kube.info;
    if (!this.isServed) throw ApiError.noSuchPage();
    const send = (type: string, body: Buffer) => sendBytes(request, reply, 200, headersFor(request, type), body);
    const seconds = (byDefault: number) => secondsOf(query.first('seconds'), byDefault);
    const { signal } = request.kube;
    switch (path.slice(root.length + 1)) {
      case '':
        return send('text/html; charset=utf-8', Buffer.from(index()));
      case 'cmdline':
        return send('text/plain; charset=utf-8', Buffer.from(process.argv.join('\0')));
      case 'profile':
        return send(binary, await zipped(await this.profiles.cpu(seconds(30), signal)));
      case 'heap':
        return send(binary, await zipped(await this.profiles.heap(seconds(5), signal)));
      default:
        throw ApiError.noSuchPage();
    }
  }
}

const binary = 'application/octet-stream';
const zipped = promisify<Buffer, Buffer>(gzip);

function secondsOf(text: string | undefined, byDefault: number): number {
  if (text === undefined || text === '') return byDefault;
  const seconds = Number(text);
  if (!/^\d+$/.test(text) || seconds < 1 || seconds > secondsMax) {
    throw ApiError.badRequest(`seconds must be a whole number from 1 to ${secondsMax}`);
  }
  return seconds;
}

function index(): string {
  const rows = pages.map(([name, what]) => `<li><a href="${name}">${name}</a>: ${what}</li>\n`).join('');
  return `<html>\n<head><title>${root}/</title></head>\n<body>\n<h1>${root}/</h1>\n<ul>\n${rows}</ul>\n</body>\n</html>\n`;
}

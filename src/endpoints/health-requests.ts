import type { FastifyReply, FastifyRequest } from 'fastify';
import { headersFor, sendBytes } from '../answers/answer.js';
import { ApiError } from '../machinery/api-error.js';
import { healthEndpoints, type HealthChecks, type HealthEndpoint } from './health-checks.js';

/**
 * Answers /healthz, /livez, /readyz and the paths of single checks below them: as text whatever the client accepts, and
 * the same for every method.
 */
export class HealthRequests {
  constructor(private readonly checks: HealthChecks) {}

  async answer(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { path, query } = request.kube.info;
    const slash = path.indexOf('/', 1);
    const endpoint = (slash < 0 ? path.slice(1) : path.slice(1, slash)) as HealthEndpoint;
    if (!healthEndpoints.includes(endpoint)) throw ApiError.noSuchPage();
    if (slash >= 0) return this.single(request, reply, endpoint, path.slice(slash + 1));

    // As kube-apiserver: the summary line says healthz at all three endpoints.
    const { failed, lines } = await this.checks.run(endpoint, query.all('exclude'));
    if (failed.length > 0) return sendText(request, reply, 500, `${lines}${endpoint} check failed\n`);
    sendText(request, reply, 200, query.has('verbose') ? `${lines}healthz check passed\n` : 'ok');
  }

  private async single(
    request: FastifyRequest,
    reply: FastifyReply,
    endpoint: HealthEndpoint,
    name: string,
  ): Promise<void> {
    const check = this.checks.find(endpoint, name);
    if (!check) throw ApiError.noSuchPage();
    const failure = await this.checks.outcome(endpoint, check);
    if (failure) return sendText(request, reply, 500, `internal server error: ${failure.message}\n`);
    sendText(request, reply, 200, 'ok');
  }
}

function sendText(request: FastifyRequest, reply: FastifyReply, code: number, text: string): void {
  const headers = headersFor(request, 'text/plain; charset=utf-8');
  headers['x-content-type-options'] = 'nosniff';
  sendBytes(request, reply, code, headers, Buffer.from(text));
}

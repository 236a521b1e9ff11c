import { Agent, request } from 'node:https';
import type { HostileAnswer, HostileRequest } from './attack.js';
import type { ServerUnderAttack } from './server-under-attack.js';

const requestsAtOnce = 32;
/** Time after which a request without an answer counts as a server that hangs. */
export const answerMsMax = 60_000;

/** Sends hostile requests one after the other. */
export class Requester {
  private readonly agent: Agent;
  private readonly target: { readonly hostname: string; readonly port: string };

  constructor(private readonly server: ServerUnderAttack) {
    this.agent = new Agent({ keepAlive: true, maxSockets: requestsAtOnce, ca: server.ca });
    this.target = new URL(server.url);
  }

  send({ method, path, headers = {}, body, as = 'admin', cutAfterMs }: HostileRequest): Promise<HostileAnswer> {
    const { hostname, port } = this.target;
    return new Promise((resolve) => {
      const chunks: Buffer[] = [];
      let code = 0;
      const sent = request({
        ...{ hostname, port, method, path, agent: this.agent },
        // Raised on the client, to test the server's limit on headers.
        maxHeaderSize: 1 << 22,
        headers: {
          ...(as !== 'nobody' && { authorization: `Bearer ${this.server.tokenOf(as)}` }),
          ...(body && { 'content-length': String(body.length) }),
          ...(headers as Record<string, string | string[]>),
        },
      });
      const end = () => {
        clearTimeout(late);
        resolve({ code, bytes: Buffer.concat(chunks) });
      };
      const late = setTimeout(() => {
        sent.destroy();
        if (cutAfterMs === undefined) code = -1;
        end();
      }, cutAfterMs ?? answerMsMax);
      sent.once('error', end);
      sent.once('response', (response) => {
        code = response.statusCode ?? 0;
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', end);
        response.once('close', end);
      });
      sent.end(body);
    });
  }

  async sendAll(requests: readonly HostileRequest[]): Promise<HostileAnswer[]> {
    const answers: HostileAnswer[] = [];
    let at = 0;
    const lane = async () => {
      while (at < requests.length) {
        const index = at++;
        answers[index] = await this.send(requests[index]!);
      }
    };
    await Promise.all(Array.from({ length: Math.min(requestsAtOnce, requests.length) }, lane));
    return answers;
  }

  close(): void {
    this.agent.destroy();
  }
}

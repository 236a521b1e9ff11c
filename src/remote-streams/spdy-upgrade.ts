import type { Duplex } from 'node:stream';
import { parseJson } from '../codec/json.js';
import { asFields, asText } from '../machinery/fields.js';
import { listedValues } from './upgrade-request.js';

const spdyProtocol = 'SPDY/3.1';

type AnswerHeaders = Readonly<Record<string, string | string[]>>;

/** The answer of a server to an upgrade. */
type UpgradeAnswer =
  | { readonly isUpgraded: true; readonly headers: AnswerHeaders; readonly socket: Duplex; readonly head: Buffer }
  | { readonly isUpgraded: false; readonly code: number; readonly headers: AnswerHeaders; readonly body: Buffer };

/** Sends a POST with these headers besides its own to the other server, and returns what it answers. */
export type ConnectServer = (
  headers: Readonly<Record<string, string | readonly string[]>>,
  signal: AbortSignal,
) => Promise<UpgradeAnswer>;

interface SpdyUpgrade {
  readonly socket: Duplex;
  /** The protocol on top of SPDY that the server has chosen; '' if it named none. */
  readonly protocol: string;
}

/** The other server has answered, but not changed the protocol. */
export class UpgradeRefusedError extends Error {
  override readonly name = 'UpgradeRefusedError';
  constructor(
    readonly code: number,
    readonly headers: AnswerHeaders,
    readonly body: Buffer,
  ) {
    super(`unable to upgrade connection: ${refusalText(body)}`);
  }
}

/** Upgrades a connection to SPDY. Throws UpgradeRefusedError, or the error of the connection. */
export async function upgradeToSpdy(
  connect: ConnectServer,
  protocols: readonly string[],
  signal: AbortSignal,
): Promise<SpdyUpgrade> {
  const answer = await connect(
    { Connection: 'Upgrade', Upgrade: spdyProtocol, 'X-Stream-Protocol-Version': protocols, 'Content-Length': '0' },
    signal,
  );
  if (!answer.isUpgraded) throw new UpgradeRefusedError(answer.code, answer.headers, answer.body);
  const { socket, head, headers } = answer;
  // Errors between now and its use must not end the process.
  socket.on('error', () => undefined);
  if (signal.aborted) {
    socket.destroy();
    throw new Error('the client closed the connection');
  }
  if (!listedValues(headers['upgrade']).some((one) => one.toUpperCase() === spdyProtocol)) {
    socket.destroy();
    throw new Error('unable to upgrade: missing upgrade headers in response');
  }
  if (head.length > 0) socket.unshift(head);
  const [protocol = ''] = listedValues(headers['x-stream-protocol-version']);
  return { socket, protocol };
}

/** The message of a Status or of a similar object, else the text. */
function refusalText(body: Buffer): string {
  const text = body.toString().trim();
  try {
    const { message, error } = asFields(parseJson(body));
    for (const one of [message, error]) {
      const trimmed = asText(one).trim();
      if (trimmed) return trimmed;
    }
  } catch {
    // No JSON.
  }
  return text || 'empty server response';
}

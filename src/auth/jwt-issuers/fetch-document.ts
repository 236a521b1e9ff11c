import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import type { Clock } from '../../std/clock.js';

interface FetchOptions {
  /** CA certificates in PEM. Undefined: the root certificates of Node. */
  readonly certificateAuthority: string | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly bytesMax: number;
  readonly redirectsMax: number;
}

const redirectCodes = new Set([301, 302, 303, 307, 308]);

/** Gets a document over HTTPS, within one time limit for all redirects and the body. Rejects unless the code is 200. */
export async function fetchDocument(url: string, options: FetchOptions): Promise<Buffer> {
  const { clock, signal, timeoutMs, redirectsMax } = options;
  const abort = new AbortController();
  const stopped = () => abort.abort(signal.reason);
  const timer = clock.after(timeoutMs, () => abort.abort(new Error(`no answer in ${timeoutMs / 1000} s`)));
  signal.addEventListener('abort', stopped, { once: true });
  if (signal.aborted) stopped();
  let at = new URL(url);
  try {
    for (let redirects = 0; ; redirects++) {
      if (at.protocol !== 'https:') throw new Error('the URL is not https');
      const message = await get(at, options, abort.signal);
      try {
        const code = message.statusCode ?? 0;
        if (code === 200) return await readBody(message, options.bytesMax);
        const { location } = message.headers;
        if (!redirectCodes.has(code) || location === undefined) throw new Error(`the server answered ${code}`);
        if (redirects >= redirectsMax) throw new Error(`more than ${redirectsMax} redirects`);
        at = new URL(location, at);
      } finally {
        message.destroy();
      }
    }
  } catch (error) {
    const reason: unknown = abort.signal.aborted ? abort.signal.reason : error;
    throw new Error(`GET ${at.origin}${at.pathname}: ${reason instanceof Error ? reason.message : String(reason)}`, {
      cause: reason,
    });
  } finally {
    timer.cancel();
    signal.removeEventListener('abort', stopped);
  }
}

function get(url: URL, { certificateAuthority }: FetchOptions, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        agent: false,
        signal,
        headers: { Accept: 'application/json', 'Accept-Encoding': 'identity', 'User-Agent': 'keelson' },
        ...(certificateAuthority !== undefined && { ca: certificateAuthority }),
      },
      (message) => {
        // A destroyed answer reports an error, which has no reader.
        message.on('error', () => undefined);
        resolve(message);
      },
    );
    sent.on('error', reject);
    sent.end();
  });
}

async function readBody(message: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > bytesMax) throw new Error(`the answer has more than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  if (!message.complete) throw new Error('the connection ended before the answer');
  return Buffer.concat(chunks);
}

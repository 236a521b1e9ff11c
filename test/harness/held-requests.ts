import { once } from 'node:events';
import type { IncomingMessage, ClientRequest } from 'node:http';
import * as https from 'node:https';
import type { TestServer } from './servers.js';

/** A request whose body has not ended, so that the server has admitted it and waits. */
export interface HeldRequest {
  /** Sends the rest of the body; resolves with the status code. */
  end(): Promise<number>;
  /** Closes the connection. */
  cut(): void;
}

/** Begins a POST of an object, as a user whom the administrator impersonates. */
export function holdRequest({ keelson }: TestServer, path: string, user: string, body: object): HeldRequest {
  const { certificate: cert, key } = keelson.client;
  const bytes = Buffer.from(JSON.stringify(body));
  const headers = {
    'content-type': 'application/json',
    'content-length': bytes.length,
    'impersonate-user': user,
    'impersonate-group': 'system:authenticated',
  };
  const sent: ClientRequest = https.request(`${keelson.url}${path}`, {
    ...{ method: 'POST', ca: keelson.ca, cert, key, headers },
    agent: false,
  });
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  answered.catch(() => undefined);
  sent.on('error', () => undefined);
  sent.write(bytes.subarray(0, 1));
  return {
    async end() {
      sent.end(bytes.subarray(1));
      const [response] = await answered;
      response.resume();
      return response.statusCode ?? 0;
    },
    cut: () => sent.destroy(),
  };
}

import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

/** The token that the webhook accepts, as the user of the static token. */
export const webhookToken = 'of-the-webhook';

interface TokenWebhook {
  /** Writes its kubeconfig and returns the path. */
  kubeconfig(directory: string): Promise<string>;
  stop(): void;
}

const review = (token: unknown) => ({
  apiVersion: 'authentication.k8s.io/v1beta1',
  kind: 'TokenReview',
  status: {
    authenticated: token === webhookToken,
    user: { username: 'benchmark', uid: '1', groups: ['system:masters'] },
  },
});

/** Starts a webhook in this process. Keelson asks it rarely: results are cached. */
export async function startTokenWebhook(): Promise<TokenWebhook> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { spec } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { spec: { token: string } };
      response.end(JSON.stringify(review(spec.token)));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    async kubeconfig(directory) {
      await mkdir(directory, { recursive: true });
      const file = join(directory, 'token-webhook.kubeconfig');
      const content = {
        'current-context': 'webhook',
        contexts: [{ name: 'webhook', context: { cluster: 'webhook' } }],
        clusters: [{ name: 'webhook', cluster: { server: url } }],
      };
      await writeFile(file, JSON.stringify(content));
      return file;
    },
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

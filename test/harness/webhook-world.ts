import { AdmissionWebhooks, WebhookInstaller } from './admission-webhook.js';
import type { HttpClient } from './http-client.js';
import { startTestServer, type TestServer } from './servers.js';

/** A server, and another one with webhooks that its administrator installs. stop() stops both. */
export interface WebhookWorld {
  readonly server: TestServer;
  readonly admin: HttpClient;
  readonly webhooks: AdmissionWebhooks;
  readonly installer: WebhookInstaller;
  stop(): Promise<void>;
}

export async function startWebhookWorld(options: Parameters<typeof startTestServer>[1] = {}): Promise<WebhookWorld> {
  const webhooks = await AdmissionWebhooks.start();
  try {
    const server = await startTestServer({ store: 'memory', naming: 'kubernetes' }, options);
    const { admin } = server;
    const stop = async () => {
      await server.stop();
      await webhooks.stop();
    };
    return { server, admin, webhooks, installer: new WebhookInstaller(admin, webhooks), stop };
  } catch (error) {
    await webhooks.stop();
    throw error;
  }
}

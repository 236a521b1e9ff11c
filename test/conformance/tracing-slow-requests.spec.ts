import type { Logger } from '../../src/std/logger.js';
import { systemClock } from '../../src/std/clock.js';
import { slowPartMs } from '../../src/tracing/request-steps.js';
import { AdmissionWebhooks, respond, WebhookInstaller } from '../harness/admission-webhook.js';
import { eventually } from '../harness/eventually.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

type Fields = Record<string, unknown>;

const configMaps = '/api/v1/namespaces/default/configmaps';
const silent = () => undefined;
const lines: Fields[] = [];
const info = (message: string, fields: Fields = {}) => void (message === 'slow request' && lines.push(fields));
const logger: Logger = { debug: silent, info, warn: silent, error: silent };

let server: TestServer;
let webhooks: AdmissionWebhooks;
beforeAll(async () => {
  webhooks = await AdmissionWebhooks.start();
  server = await startTestServer(
    { store: 'embedded', naming: 'kubernetes' },
    { logger, config: { limits: { slowRequestMs: 1 } } },
  );
});
afterAll(async () => {
  await server.stop();
  await webhooks.stop();
});

/** Returns the line of the request with this audit id. */
async function lineOf(auditId: string): Promise<Fields> {
  const find = () => lines.find((fields) => fields['auditId'] === auditId);
  await eventually('the request is logged', () => find() !== undefined);
  return find()!;
}

it('a slow write is logged with its steps, and with the webhook that was slow', async () => {
  const installer = new WebhookInstaller(server.admin, webhooks);
  const { name, labels, paths } = await installer.install('validating', [{}]);
  webhooks.onRequest(paths[0]!, (response, review) => {
    systemClock.after(2 * slowPartMs, () => respond(response, review, { allowed: true }));
  });
  const body = { metadata: { name: 'slow', labels } };
  const created = await server.admin.post(configMaps, body, { 'audit-id': 'slow-create' });
  expect(created.code).toBe(201);

  const line = await lineOf('slow-create');
  const steps = line['steps'] as Record<string, number>;
  expect(Object.keys(steps)).toEqual(expect.arrayContaining(['body', 'decode', 'handling', 'admission', 'store']));
  expect(steps['admission']).toBeGreaterThanOrEqual(2 * slowPartMs - 1);
  const slowest = line['slowest'] as { readonly name: string; readonly ms: number }[];
  expect(slowest.map((part) => part.name)).toEqual(
    expect.arrayContaining([`h0.${name}.test`, 'ValidatingAdmissionWebhook']),
  );
  const sum = Object.values(steps).reduce((total, ms) => total + ms, 0);
  expect(sum).toBeCloseTo(line['durationMs'] as number, 0);
});

it('a request that its deadline ends is logged with the step that it was in', async () => {
  const installer = new WebhookInstaller(server.admin, webhooks);
  const { labels, paths } = await installer.install('validating', [{}]);
  webhooks.onRequest(paths[0]!, () => undefined);
  const body = { metadata: { name: 'late', labels } };
  const refused = await server.admin.post(`${configMaps}?timeout=2s`, body, { 'audit-id': 'late-create' });
  expect(refused.code).toBe(504);
  const { steps } = (await lineOf('late-create')) as { steps: Record<string, number> };
  expect(steps['admission']).toBeGreaterThan(1_000);
});

import {
  type AdmissionWebhooks,
  patched,
  registration,
  respond,
  type WebhookInstaller,
} from '../harness/admission-webhook.js';
import type { HttpClient } from '../harness/http-client.js';
import { configMaps, dataOf, messageOf, webhookRequests, type WebhookRequests } from '../harness/webhook-requests.js';
import { startWebhookWorld, type WebhookWorld } from '../harness/webhook-world.js';

let world: WebhookWorld;
let admin: HttpClient;
let webhooks: AdmissionWebhooks;
let installer: WebhookInstaller;
let { newName, post, validating, mutating } = {} as WebhookRequests;
beforeAll(async () => {
  world = await startWebhookWorld();
  ({ admin, webhooks, installer } = world);
  ({ newName, post, validating, mutating } = webhookRequests(world));
});
afterAll(() => world.stop());

describe('answers that are no AdmissionResponse', () => {
  it.each<[string, 'mutating' | 'validating', (uid: string) => object, string]>([
    ['another uid', 'validating', () => ({ response: { uid: 'x', allowed: true } }), 'expected response.uid='],
    ['no response', 'validating', () => ({}), 'webhook response was absent'],
    [
      'another version',
      'validating',
      (uid) => ({ apiVersion: 'admission.k8s.io/v1beta1', response: { uid, allowed: true } }),
      'expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview',
    ],
    ['a text as allowed', 'validating', (uid) => ({ response: { uid, allowed: 'true' } }), 'allowed must be a boolean'],
    [
      'a patch of a validating webhook',
      'validating',
      (uid) => ({ response: { uid, ...patched([]) } }),
      'validating webhook may not return response.patch',
    ],
    [
      'a patchType of a validating webhook',
      'validating',
      (uid) => ({ response: { uid, allowed: true, patchType: 'JSONPatch' } }),
      'validating webhook may not return response.patchType',
    ],
    [
      'a patch without a type',
      'mutating',
      (uid) => ({ response: { uid, ...patched([]), patchType: undefined } }),
      'webhook returned response.patch but not response.patchType',
    ],
    [
      'a type without a patch',
      'mutating',
      (uid) => ({ response: { uid, allowed: true, patchType: 'JSONPatch' } }),
      'webhook returned response.patchType but not response.patch',
    ],
    [
      'another type of patch',
      'mutating',
      (uid) => ({ response: { uid, ...patched([]), patchType: 'MergePatch' } }),
      'unsupported patch type',
    ],
  ])('%s', async (_title, kind, review, problem) => {
    const { labels, name, paths } = await installer.install(kind, [{}]);
    webhooks.onRequest(paths[0]!, (response, received) => {
      const body = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', ...review(received.request.uid) };
      response.writeHead(200).end(JSON.stringify(body));
    });
    const answer = await post(labels);
    const failed = `failed calling webhook "h0.${name}.test": received invalid webhook response: `;
    expect([answer.code, messageOf(answer)]).toEqual([
      500,
      expect.stringContaining(`Internal error occurred: ${failed}`),
    ]);
    expect(messageOf(answer)).toContain(problem);
    expect(answer.body).toMatchObject({
      reason: 'InternalError',
      details: { causes: [{ message: expect.stringContaining(failed) as string }] },
    });
  });

  it('a v1beta1 answer needs neither uid nor kind', async () => {
    const { labels, paths } = await mutating([{ admissionReviewVersions: ['v1beta1'] }]);
    const { patch } = patched([{ op: 'add', path: '/data', value: { a: 'b' } }]);
    webhooks.onRequest(paths[0]!, (response) => {
      response.writeHead(200).end(JSON.stringify({ response: { allowed: true, patch } }));
    });
    expect(dataOf(await post(labels))).toEqual({ a: 'b' });
  });
});

describe('calls', () => {
  it('a webhook that cannot be reached refuses the request, or not with failurePolicy Ignore', async () => {
    const clientConfig = { url: 'https://localhost:1/x', caBundle: webhooks.caBundle };
    const { labels, name } = await validating({ clientConfig });
    const url = 'https://localhost:1/x?timeout=10s';
    expect(messageOf(await post(labels))).toMatch(
      new RegExp(
        `^Internal error occurred: failed calling webhook "h0.${name}.test": failed to call webhook: Post "${url.replace('?', '\\?')}": `,
      ),
    );
    const ignored = await validating({ clientConfig, failurePolicy: 'Ignore' });
    expect((await post(ignored.labels)).code).toBe(201);
  });

  it('timeoutSeconds ends a call that hangs', async () => {
    const { labels, path } = await validating({ timeoutSeconds: 1 });
    webhooks.onRequest(path, () => undefined);
    const answer = await post(labels);
    expect([answer.code, messageOf(answer)]).toEqual([
      500,
      expect.stringContaining('?timeout=1s": context deadline exceeded'),
    ]);
  });

  it.each([
    ['signed by another CA', () => ({ url: `https://localhost:${webhooks.port}/` }), 'unknown authority'],
    [
      'for other names',
      () => ({ url: `https://127.0.0.1:${webhooks.port}/`, caBundle: webhooks.caBundle }),
      '127.0.0.1',
    ],
  ])('a certificate %s is refused', async (_title, clientConfig, problem) => {
    const { labels } = await validating({ clientConfig: clientConfig() });
    const before = webhooks.received.length;
    expect(messageOf(await post(labels))).toContain(problem);
    expect(webhooks.received).toHaveLength(before);
  });

  it('a Service is called at its address, by the name of the Service', async () => {
    const service = { metadata: { name: 'hook' }, spec: { type: 'ExternalName', externalName: 'localhost' } };
    expect((await admin.post('/api/v1/namespaces/default/services', service)).code).toBe(201);
    const reference = { namespace: 'default', name: 'hook', path: '/by-service', port: webhooks.port };
    const { labels, name } = await validating({ clientConfig: { service: reference, caBundle: webhooks.caBundle } });
    expect((await post(labels)).code).toBe(201);
    expect(webhooks.at('/by-service')).toMatchObject([{ headers: { host: `hook.default.svc:${webhooks.port}` } }]);
    await admin.delete(`${registration}/validatingwebhookconfigurations/${name}`);
    const missing = await validating({
      clientConfig: { service: { ...reference, name: 'none' }, caBundle: webhooks.caBundle },
    });
    expect(messageOf(await post(missing.labels))).toContain('failed to call webhook: service "none" not found');
  });

  it('redirects are not followed', async () => {
    const { labels, path } = await validating({});
    webhooks.onRequest(path, (response) => void response.writeHead(307, { Location: '/elsewhere' }).end());
    expect((await post(labels)).code).toBe(500);
    expect(webhooks.at('/elsewhere')).toEqual([]);
  });

  it('connections are kept open', async () => {
    const { labels, path } = await validating({});
    for (let call = 0; call < 5; call++) expect((await post(labels)).code).toBe(201);
    expect(new Set(webhooks.at(path).map(({ socket }) => socket)).size).toBe(1);
  });

  it('validating webhooks are called at the same time', async () => {
    const { labels, paths } = await installer.install('validating', [{}, {}]);
    const waiting: (() => void)[] = [];
    for (const path of paths) {
      webhooks.onRequest(path, (response, review) => {
        waiting.push(() => respond(response, review, { allowed: true }));
        // Both have received their review before one answers.
        if (waiting.length === 2) waiting.forEach((answer) => answer());
      });
    }
    expect((await post(labels)).code).toBe(201);
  });

  it('a webhook may write to the server while it is asked', async () => {
    const { labels, path } = await validating({});
    const name = newName();
    webhooks.onRequest(path, (response, review) => {
      void admin
        .post(configMaps, { metadata: { name } })
        .then(({ code }) => respond(response, review, { allowed: code === 201 }));
    });
    expect((await post(labels)).code).toBe(201);
    expect((await admin.get(`${configMaps}/${name}`)).code).toBe(200);
  });
});

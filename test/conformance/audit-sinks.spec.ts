import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { AuditFiles, AuditServer, linesOf } from '../harness/audit.js';
import { ClientKubeconfigs } from '../harness/client-kubeconfigs.js';
import { eventually } from '../harness/eventually.js';
import { HttpClient } from '../harness/http-client.js';
import { ServerProcess } from '../harness/server-process.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import type { ConfigOverrides } from '../../src/config/load-config.js';
import { defineAdmissionPlugin } from '../../src/index.js';
import { configMap } from './case.js';

/** Sinks of the audit log: modes, failures and rotation, on whole servers. */
const configMaps = '/api/v1/namespaces/default/configmaps';
const memory = { store: 'memory', naming: 'kubernetes' } as const;
const ownRequests = '[{level: None, users: [system:apiserver]}, {level: RequestResponse}]';

const large = (name: string, bytes: number) => ({ ...configMap(name), data: { k: 'x'.repeat(bytes) } });

const running: { stop(): Promise<unknown> }[] = [];
const made: { remove(): void }[] = [];
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});
afterAll(() => {
  for (const files of made.splice(0)) files.remove();
});

function filesWith(rules: string): AuditFiles {
  const files = new AuditFiles(rules);
  made.push(files);
  return files;
}

async function start(config: ConfigOverrides): Promise<TestServer> {
  const server = await startTestServer(memory, { config, reconciles: false });
  running.push(server);
  return server;
}

async function metric(server: TestServer, name: string): Promise<number> {
  const { text } = await server.admin.get('/metrics');
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1) ?? 0);
}

describe('the log', () => {
  it.each(['batch', 'blocking', 'blocking-strict'] as const)(
    'in mode %s has all events of a stopped server',
    async (mode) => {
      const files = filesWith(ownRequests);
      const server = await start(files.config({ mode }));
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, index) => server.admin.post(configMaps, configMap(`a-${index}`))),
      );
      await running.pop()!.stop();
      const stages = (id: unknown) =>
        files
          .lines()
          .filter(({ auditID }) => auditID === id)
          .map(({ stage }) => stage);
      for (const { code, headers } of answers) {
        expect([code, stages(headers['audit-id'])]).toEqual([201, ['RequestReceived', 'ResponseComplete']]);
      }
    },
  );

  it('in a blocking mode has the events of every answered request', async () => {
    const files = filesWith(ownRequests);
    const server = await start(files.config({ mode: 'blocking' }));
    for (let index = 0; index < 20; index++) {
      const { headers } = await server.admin.post(configMaps, configMap(`b-${index}`));
      expect(files.lines().filter(({ auditID }) => auditID === headers['audit-id'])).toHaveLength(2);
    }
  });

  it('in the format legacy has lines of text', async () => {
    const files = filesWith(ownRequests);
    const server = await start(files.config({ format: 'legacy' }));
    const { headers } = await server.admin.get(configMaps);
    const own = files
      .text()
      .split('\n')
      .filter((line) => line.includes(`id="${String(headers['audit-id'])}"`));
    expect(own).toEqual([
      expect.stringMatching(
        /^\S+Z AUDIT: id="\S+" stage="RequestReceived" ip="127.0.0.1" method="list" .*response="<deferred>"$/,
      ),
      expect.stringMatching(
        /stage="ResponseComplete" .*namespace="default" uri="\/api\/v1\/namespaces\/default\/configmaps" response="200"$/,
      ),
    ]);
  });

  it('that is truncated has the events without their objects', async () => {
    const files = filesWith('[{level: RequestResponse, verbs: [create], omitStages: [RequestReceived]}]');
    const server = await start(files.config({ truncates: true, eventBytesMax: 3000, batchBytesMax: 3000 }));
    const small = await server.admin.post(configMaps, configMap('small'));
    const cut = await server.admin.post(configMaps, large('large', 5000));
    expect((await files.of(small))[0]).toHaveProperty('responseObject');
    const [event] = await files.of(cut);
    expect(event).toMatchObject({ level: 'RequestResponse', annotations: { 'audit.k8s.io/truncated': 'true' } });
    expect([event!.requestObject, event!.responseObject]).toEqual([undefined, undefined]);
  });

  it('is rotated, and every event is in one of its files', async () => {
    const files = filesWith('[{level: RequestResponse, verbs: [create], omitStages: [RequestReceived]}]');
    const server = await start(files.config({ megabytesMax: 1, mode: 'batch', compresses: true }));
    const answers = [];
    for (let index = 0; index < 20; index++) {
      answers.push(await server.admin.post(configMaps, large(`r-${index}`, 100_000)));
    }
    await running.pop()!.stop();
    const names = readdirSync(files.directory).filter((name) => name.startsWith('audit'));
    const rotated = names.filter((name) => /^audit-[\d-]+T[\d-]+\.\d{3}\.log\.gz$/.test(name));
    expect([rotated.length, names.length - rotated.length]).toEqual([expect.any(Number), 1]);
    expect(rotated.length).toBeGreaterThan(2);
    const all = rotated.flatMap((name) => linesOf(gunzipSync(readFileSync(join(files.directory, name))).toString()));
    const recorded = new Set([...all, ...files.lines()].map(({ auditID }) => auditID));
    expect(answers.filter(({ headers }) => !recorded.has(String(headers['audit-id'])))).toEqual([]);
  });

  it('that cannot be written is counted, and requests are served', async () => {
    const files = filesWith('[{level: Metadata, verbs: [create]}]');
    const server = await start({
      audit: { policyFile: files.policy, log: { path: '/dev/full', mode: 'blocking', megabytesMax: 0 } },
    });
    expect((await server.admin.post(configMaps, configMap('a'))).code).toBe(201);
    expect(await metric(server, 'apiserver_audit_error_total{plugin="log"}')).toBe(2);
    expect(await metric(server, 'apiserver_audit_requests_rejected_total')).toBe(0);
  });

  it('that cannot be written refuses requests in mode blocking-strict, before they do anything', async () => {
    const files = filesWith('[{level: Metadata, verbs: [create]}]');
    const server = await start({
      audit: { policyFile: files.policy, log: { path: '/dev/full', mode: 'blocking-strict', megabytesMax: 0 } },
    });
    const { code, text } = await server.admin.post(configMaps, configMap('a'));
    expect([code, text]).toEqual([500, `Internal Server Error: "${configMaps}": failed to store audit event\n`]);
    expect((await server.admin.get(`${configMaps}/a`)).code).toBe(404);
    expect(await metric(server, 'apiserver_audit_requests_rejected_total')).toBe(1);
    expect(await metric(server, 'apiserver_audit_error_total{plugin="log"}')).toBe(1);
  });
});

it('a write whose client disconnects is recorded with its outcome', async () => {
  const files = filesWith('[{level: Metadata, verbs: [create], omitStages: [RequestReceived]}]');
  let isHeld = false;
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const holding = defineAdmissionPlugin({
    name: 'Holding',
    runs: 'by default',
    make: () => ({
      async admit({ name }) {
        if (name !== 'held') return;
        isHeld = true;
        await released;
      },
    }),
  });
  const server = await startTestServer(memory, {
    config: files.config(),
    reconciles: false,
    admissionPlugins: [holding],
  });
  running.push(server);
  const client = server.client(server.keelson.client);
  const failed = client.post(configMaps, configMap('held'), { 'audit-id': 'held' }).then(
    () => false,
    () => true,
  );
  await eventually('the request', () => isHeld);
  client.close();
  expect(await failed).toBe(true);
  release();
  const [event] = await files.of({ headers: { 'audit-id': 'held' } });
  const { code } = await server.admin.get(`${configMaps}/held`);
  // The store is not asked once the server knows that the client has left.
  const outcomes = [
    [503, 404],
    [201, 200],
  ];
  expect(outcomes).toContainEqual([event!.responseStatus!['code'], code]);
});

describe('a server', () => {
  it.each<[name: string, config: (files: AuditFiles) => ConfigOverrides['audit'], problem: RegExp]>([
    [
      'with a policy that does not exist',
      (files) => ({ policyFile: join(files.directory, 'none') }),
      /--audit-policy-file: \S+none: there is no such file/,
    ],
    [
      'with a log in a place that is no directory',
      (files) => ({ policyFile: files.policy, log: { path: join(files.policy, 'audit.log') } }),
      /--audit-log-path: \S+audit\.log: /,
    ],
    [
      'with a kubeconfig that does not exist',
      (files) => ({ policyFile: files.policy, webhook: { configFile: join(files.directory, 'none') } }),
      /--audit-webhook-config-file: .*none/,
    ],
  ])('%s does not start', async (_name, config, problem) => {
    const files = filesWith(ownRequests);
    await expect(start({ audit: config(files) })).rejects.toThrow(problem);
  });

  it('with a log and without a policy records nothing', async () => {
    const files = filesWith(ownRequests);
    const server = await start({ audit: { log: { path: files.log } } });
    await server.admin.get(configMaps);
    expect([existsSync(files.log), await metric(server, 'apiserver_audit_event_total')]).toEqual([false, 0]);
  });
});

describe('the webhook', () => {
  let webhook: AuditServer;
  const kubeconfigs = new ClientKubeconfigs();
  beforeEach(async () => (webhook = await AuditServer.start()));
  afterEach(() => webhook.stop());
  afterAll(() => kubeconfigs.remove());

  const batch = {
    waitMs: 50,
    eventsMax: 400,
    eventsWaitingMax: 10_000,
    isThrottled: true,
    burst: 15,
    batchesPerSecond: 10,
  };
  const configOf = (
    files: AuditFiles,
    more: NonNullable<ConfigOverrides['audit']>['webhook'] = {},
  ): ConfigOverrides => ({
    audit: {
      policyFile: files.policy,
      webhook: { configFile: kubeconfigs.kubeconfig(webhook, {}), batch, ...more },
    },
  });

  it('gets all events, in batches', async () => {
    const server = await start(configOf(filesWith('[{level: RequestResponse, verbs: [create]}]')));
    for (let index = 0; index < 20; index++) await server.admin.post(configMaps, configMap(`w-${index}`));
    await eventually('40 events', () => webhook.events.length === 40);
    expect(webhook.reviews.length).toBeLessThan(40);
    expect(new Set(webhook.reviews.map(({ kind, apiVersion }) => `${kind} ${apiVersion}`))).toEqual(
      new Set(['EventList audit.k8s.io/v1']),
    );
    expect(webhook.events.find(({ stage }) => stage === 'ResponseComplete')).toMatchObject({
      requestObject: { kind: 'ConfigMap' },
      responseObject: { kind: 'ConfigMap' },
    });
  });

  it('gets what waits when the server stops', async () => {
    const server = await start(
      configOf(filesWith('[{level: Metadata, verbs: [create]}]'), { batch: { ...batch, waitMs: 600_000 } }),
    );
    await server.admin.post(configMaps, configMap('a'));
    expect(webhook.events).toEqual([]);
    await running.pop()!.stop();
    expect(webhook.events.map(({ stage }) => stage)).toEqual(['RequestReceived', 'ResponseComplete']);
  });

  it('that hangs delays no request in mode batch, and events beyond the buffer are counted', async () => {
    webhook.answer = () => undefined;
    const small = { ...batch, waitMs: 1, eventsMax: 1, eventsWaitingMax: 10, burst: 3, batchesPerSecond: 0.001 };
    const server = await start(
      configOf(filesWith('[{level: Metadata, verbs: [create], omitStages: [RequestReceived]}]'), { batch: small }),
    );
    for (let index = 0; index < 20; index++)
      expect((await server.admin.post(configMaps, configMap(`h-${index}`))).code).toBe(201);
    expect(await metric(server, 'apiserver_audit_event_total')).toBe(20);
    // At most 3 are being sent, and 10 wait.
    expect(await metric(server, 'apiserver_audit_error_total{plugin="buffered"}')).toBeGreaterThanOrEqual(7);
  });

  it.each([500, 'drop'] as const)(
    'that answers with %s in mode blocking loses the event, and the request is served',
    async (answer) => {
      webhook.answer = (response) =>
        void (answer === 'drop' ? response.destroy() : response.writeHead(answer).end('{"garbage'));
      const server = await start(
        configOf(filesWith('[{level: Metadata, verbs: [create], omitStages: [RequestReceived]}]'), {
          mode: 'blocking',
          initialBackoffMs: 1,
        }),
      );
      expect((await server.admin.post(configMaps, configMap('a'))).code).toBe(201);
      expect(webhook.requests).toHaveLength(5);
      expect(await metric(server, 'apiserver_audit_error_total{plugin="webhook"}')).toBe(1);
    },
  );

  it('that fails in mode blocking-strict refuses requests', async () => {
    webhook.answer = (response) => void response.writeHead(503).end();
    const server = await start(
      configOf(filesWith('[{level: Metadata, verbs: [create]}]'), { mode: 'blocking-strict', initialBackoffMs: 1 }),
    );
    expect((await server.admin.post(configMaps, configMap('a'))).code).toBe(500);
    expect((await server.admin.get(`${configMaps}/a`)).code).toBe(404);
  });

  it('and the log get the same events', async () => {
    const files = filesWith('[{level: Metadata, verbs: [create]}]');
    const config = configOf(files);
    const server = await start({ audit: { ...config.audit, log: { path: files.log } } });
    await server.admin.post(configMaps, configMap('both'));
    await eventually('2 events', () => webhook.events.length === 2);
    const withoutType = files.lines().map(({ kind: _kind, apiVersion: _version, ...event }) => event);
    expect(webhook.events).toEqual(withoutType);
  });
});

describe('a killed server', () => {
  const directory = mkdtempSync(join(tmpdir(), 'keelson-audit-killed-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it('has lost no event of an answered request in mode blocking, and appends after its start', async () => {
    const files = filesWith('[{level: Metadata, verbs: [create], omitStages: [RequestReceived]}]');
    const flags = [
      '--storage-backend=embedded',
      `--audit-policy-file=${files.policy}`,
      `--audit-log-path=${files.log}`,
    ];
    const server = await ServerProcess.start(directory, flags);
    running.push(server);
    const answered: unknown[] = [];
    const client = new HttpClient({ ...server.access, ...server.access.client });
    const load = Promise.all(
      Array.from({ length: 4 }, async (_, lane) => {
        for (let index = 0; ; index++) {
          const { headers } = await client.post(configMaps, configMap(`k-${lane}-${index}`));
          answered.push(headers['audit-id']);
        }
      }),
    ).catch(() => undefined);
    await eventually('100 answers', () => answered.length >= 100);
    await server.kill();
    await load;
    client.close();
    const complete = files.text().slice(0, files.text().lastIndexOf('\n') + 1);
    const recorded = new Set(linesOf(complete).map(({ auditID }) => auditID));
    expect(answered.filter((id) => !recorded.has(id as string))).toEqual([]);

    await server.start();
    const next = new HttpClient({ ...server.access, ...server.access.client });
    const { headers } = await next.post(configMaps, configMap('after'));
    next.close();
    expect(files.text().startsWith(complete)).toBe(true);
    expect((await files.of({ headers }))[0]).toMatchObject({ objectRef: { name: 'after' } });
  });
});

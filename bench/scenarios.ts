import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { policies, refusedName, webhookConfigurations } from './lib/admission-objects.js';
import { startAdmissionWebhook } from './lib/admission-webhook.js';
import type { LoadJob } from './lib/generator-jobs.js';
import { startJwtIssuer } from './lib/jwt-issuer.js';
import { compare, measure, type Measured } from './lib/load-generator.js';
import { fanOutOn } from './lib/fan-out.js';
import { configMap, namespace, pod } from './lib/objects.js';
import { residentMiB } from './lib/process-figures.js';
import { counterMark, objectMark, type RequestShape } from './lib/requests.js';
import { must, startBare, startOurs, type Server, type StoreName } from './lib/servers.js';
import { startTokenWebhook, webhookToken } from './lib/token-webhook.js';
import { measureWithWrk } from './lib/wrk.js';

export interface World {
  readonly directory: string;
  readonly store: StoreName;
  readonly etcdUrl: string | undefined;
  readonly seconds: number;
  readonly usesWrk: boolean;
  /** Both run until the end, from the start-up scenario on. */
  servers: Servers;
}

interface Servers {
  readonly ours: Server;
  readonly bare: Server;
}

/** A line of the report: the same work on both servers, one after the other. */
export type Row = SizeRow | LoadRow;
interface SizeRow {
  readonly type: 'size';
  /** The most that Keelson may need, in `unit`. */
  readonly target?: number | undefined;
  readonly label: string;
  readonly unit: 'ms' | 'MiB';
  readonly ours: number;
  readonly bare: number;
}
interface LoadRow {
  readonly type: 'load';
  /** The most CPU that Keelson may need, as a multiple of the other server's. */
  readonly target?: number | undefined;
  readonly label: string;
  readonly ours: Measured;
  readonly bare: Measured;
}

interface Scenario {
  readonly name: string;
  run(world: World): Promise<Row[]>;
}

const warmUpMs = 1500;
/** Slices of a load, in turns with those of the other server. */
const rounds = 11;
const pacedRounds = 5;
const startRounds = 5;
const auditRounds = 5;
const admissionRounds = 5;
/** Plug-ins that do nothing without webhook configurations and policies. */
const configurablePlugins = [
  'MutatingAdmissionPolicy',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
];
const connections = 32;
const watchers = 1000;
const pacedPerSecond = 10;
/** Objects that updates, patches and applies change in turn. */
const writtenObjects = 1000;
const listedPods = 10_000;
const otherPods = 2000;
/** Time for the work that an idle server still does after its start. */
const settleMs = 2000;
/** Time after which V8 has given back the memory that the start needed. */
const idleMs = 30_000;

const jobOn = (server: Server, request: Omit<RequestShape, 'token'>, more: Partial<LoadJob> = {}): LoadJob => ({
  type: 'load',
  target: server.target,
  request: { ...request, token: server.token },
  connections,
  seconds: 5,
  requestsMax: Number.MAX_SAFE_INTEGER,
  warmUpMs,
  from: 0,
  ...more,
});

/** Measures GET on both: the bare server sends the bytes that Keelson answers. */
async function getOnBoth(
  world: World,
  { label, target }: Pick<LoadRow, 'label' | 'target'>,
  path: string,
  more: Partial<LoadJob> = {},
): Promise<Row> {
  const { servers, seconds, usesWrk } = world;
  const { ours, bare } = servers;
  await must(bare, 'PUT', '/body/get', await must(ours, 'GET', path));
  const side = (server: Server, at: string, loadSeconds: number) => ({
    job: jobOn(server, { method: 'GET', path: at }, { seconds: loadSeconds, ...more }),
    serverPids: [server.pid],
  });
  if (usesWrk) {
    const on = (server: Server, at: string) => measureWithWrk(side(server, at, seconds).job, server.pid);
    return { type: 'load', label, target, ours: await on(ours, path), bare: await on(bare, '/body/get') };
  }
  const sides = { ours: side(ours, path, seconds / rounds), bare: side(bare, '/body/get', seconds / rounds) };
  return { type: 'load', label, target, ...(await compare(sides, rounds)) };
}

const smallPath = '/api/v1/namespaces/bench/configmaps/small';

async function smallObject({ servers }: World): Promise<void> {
  await must(servers.ours, 'POST', '/api/v1/namespaces', namespace('bench'));
  await must(servers.ours, 'POST', '/api/v1/namespaces/bench/configmaps', configMap('small', '00000000'));
}

async function ensurePods({ servers }: World): Promise<void> {
  const { ours } = servers;
  for (const { name, count } of [
    { name: 'bench-list', count: listedPods },
    { name: 'bench-more', count: otherPods },
  ]) {
    await must(ours, 'POST', '/api/v1/namespaces', namespace(name));
    const path = `/api/v1/namespaces/${name}/pods`;
    if ((await must(ours, 'GET', `${path}?limit=1`)).includes('"items":[{')) continue;
    const job = jobOn(ours, { method: 'POST', path, body: pod }, { seconds: 300, requestsMax: count, warmUpMs: 0 });
    const { count: made, failed } = await measure(job, [ours.pid]);
    if (made < count || failed > 0) throw new Error(`${made} of ${count} Pods were created, ${failed} failed`);
  }
}

export async function startBoth({ directory, store, etcdUrl }: Omit<World, 'servers'>): Promise<Servers> {
  const ours = await startOurs(directory, store, etcdUrl);
  return { ours, bare: await startBare(directory) };
}

/** Measures all writes of objects of 1 KiB. They are divided by the bare server's GET, which has no body to read. */
async function measureWrites(world: World): Promise<Row[]> {
  const { servers, seconds } = world;
  const { ours, bare } = servers;
  await smallObject(world);
  await must(bare, 'PUT', '/body/get', await must(ours, 'GET', smallPath));
  const slice = { seconds: seconds / rounds };
  const get = { job: jobOn(bare, { method: 'GET', path: '/body/get' }, slice), serverPids: [bare.pid] };
  await must(ours, 'POST', '/api/v1/namespaces', namespace('bench-writes'));
  const folder = '/api/v1/namespaces/bench-writes/configmaps';
  const onOurs = (request: Omit<RequestShape, 'token'>, more: Partial<LoadJob>) =>
    jobOn(ours, { objects: writtenObjects, ...request }, more);
  const once = (request: Omit<RequestShape, 'token'>) =>
    measure(onOurs(request, { warmUpMs: 0, requestsMax: writtenObjects, seconds: 300 }), [ours.pid]);
  const one = `${folder}/written-${objectMark}`;
  const apply = { method: 'PATCH', path: `${one}?fieldManager=bench`, contentType: 'application/apply-patch+yaml' };
  const mergePatch = { method: 'PATCH', path: one, contentType: 'application/merge-patch+json' };
  const object = (sequence?: string) => configMap(`written-${objectMark}`, sequence);
  const rows: Row[] = [];
  const add = async (label: string, target: number, request: Omit<RequestShape, 'token'>) => {
    const sides = { ours: { job: onOurs(request, slice), serverPids: [ours.pid] }, bare: get };
    rows.push({ type: 'load', label: `${label} / GET`, target, ...(await compare(sides, rounds)) });
  };
  await add('create', 12, { method: 'POST', path: folder, body: configMap(`made-${counterMark}`) });
  await once({ method: 'POST', path: folder, body: object('first') });
  await add('update', 13, { method: 'PUT', path: one, body: object() });
  await add('merge patch', 14, { ...mergePatch, body: `{"data":{"sequence":"${counterMark}"}}` });
  await once({ ...apply, path: `${apply.path}&force=true`, body: object() });
  await add('apply', 17, { ...apply, body: object() });
  await once({ ...apply, body: object('last') });
  await add('apply, no change', 8, { ...apply, body: object('last') });
  return rows;
}

/** Measures creates in a namespace of their own. */
async function measureCreates(
  { seconds }: World,
  server: Server,
  round: number,
  { plural, body } = { plural: 'pods', body: pod },
): Promise<Measured> {
  const name = `bench-create-${round}`;
  await must(server, 'POST', '/api/v1/namespaces', namespace(name));
  const request = { method: 'POST', path: `/api/v1/namespaces/${name}/${plural}`, body };
  return measure(jobOn(server, request, { seconds }), [server.pid]);
}

const medianOf = (rounds: readonly Measured[]): Measured =>
  [...rounds].sort((a, b) => a.cpuMicrosPerUnit - b.cpuMicrosPerUnit)[Math.floor(rounds.length / 2)]!;

/** Waits until the policies refuse what they should. */
async function arePoliciesInForce(server: Server): Promise<void> {
  const path = '/api/v1/namespaces/default/configmaps?dryRun=All';
  for (let attempt = 0; attempt < 100; attempt++) {
    if ((await server.call('POST', path, configMap(refusedName, '0'))).code === 422) return;
    await sleep(100);
  }
  throw new Error('the policies are not in force');
}

/** Returns a token of a new ServiceAccount. */
async function serviceAccountToken(ours: Server): Promise<string> {
  const accounts = '/api/v1/namespaces/bench/serviceaccounts';
  await must(ours, 'POST', accounts, JSON.stringify({ metadata: { name: 'reader' } }));
  const { status } = JSON.parse(await must(ours, 'POST', `${accounts}/reader/token`, '{}')) as {
    status: { token: string };
  };
  return status.token;
}

async function bootstrapToken(ours: Server): Promise<string> {
  const [id, secret] = ['abcdef', '0123456789abcdef'];
  const stringData = { 'token-id': id, 'token-secret': secret, 'usage-bootstrap-authentication': 'true' };
  const object = { metadata: { name: `bootstrap-token-${id}` }, type: 'bootstrap.kubernetes.io/token', stringData };
  await must(ours, 'POST', '/api/v1/namespaces/kube-system/secrets', JSON.stringify(object));
  return `${id}.${secret}`;
}

async function adminCertificate(directory: string): Promise<{ cert: string; key: string }> {
  const read = (name: string) => readFile(join(directory, 'pki', name), 'utf8');
  return { cert: await read('admin.crt'), key: await read('admin.key') };
}

export const scenarios: readonly Scenario[] = [
  {
    name: 'startup',
    async run(world) {
      const first = world.servers;
      await Promise.all([first.ours.stop(), first.bare.stop()]);
      const times: Servers[] = [];
      for (let round = 0; round < startRounds; round++) {
        if (round > 0) await Promise.all([world.servers.ours.stop(), world.servers.bare.stop()]);
        world.servers = await startBoth(world);
        times.push(world.servers);
      }
      const median = (of: (servers: Servers) => number) =>
        times.map(of).sort((a, b) => a - b)[Math.floor(startRounds / 2)]!;
      return [
        { type: 'size', label: 'start, all made anew', unit: 'ms', ours: first.ours.startMs, bare: first.bare.startMs },
        {
          type: 'size',
          label: 'start to readyz',
          unit: 'ms',
          target: 350,
          ours: median(({ ours }) => ours.startMs),
          bare: median(({ bare }) => bare.startMs),
        },
      ];
    },
  },
  {
    name: 'memory',
    async run(world) {
      const { ours, bare } = world.servers;
      const memory = (label: string, target?: number): Row => ({
        type: 'size',
        label,
        target,
        unit: 'MiB',
        ours: residentMiB(ours.pid),
        bare: residentMiB(bare.pid),
      });
      await sleep(idleMs);
      const idle = memory('memory, idle', 100);
      await ensurePods(world);
      await sleep(settleMs);
      return [idle, memory('memory, 12k Pods')];
    },
  },
  {
    name: 'get',
    async run(world) {
      await smallObject(world);
      return [await getOnBoth(world, { label: 'GET, up to date', target: 2.3 }, smallPath)];
    },
  },
  {
    name: 'get-rv0',
    async run(world) {
      await smallObject(world);
      return [await getOnBoth(world, { label: 'GET, any version', target: 1.6 }, `${smallPath}?resourceVersion=0`)];
    },
  },
  {
    name: 'list',
    async run(world) {
      await ensurePods(world);
      const path = '/api/v1/namespaces/bench-list/pods';
      return [
        await getOnBoth(world, { label: 'LIST 10k Pods, up to date', target: 1.4 }, path, { connections: 1 }),
        await getOnBoth(world, { label: 'LIST 10k Pods, any version', target: 1.4 }, `${path}?resourceVersion=0`, {
          connections: 1,
        }),
      ];
    },
  },
  {
    name: 'protobuf',
    async run(world) {
      const { ours } = world.servers;
      await smallObject(world);
      const on = (accept: string) => ({
        job: jobOn(ours, { method: 'GET', path: smallPath, accept }, { seconds: world.seconds / rounds }),
        serverPids: [ours.pid],
      });
      // The bare server of this row is Keelson with answers in JSON.
      const sides = { ours: on('application/vnd.kubernetes.protobuf'), bare: on('application/json') };
      return [{ type: 'load', label: 'GET, protobuf / JSON', target: 1.2, ...(await compare(sides, rounds)) }];
    },
  },
  { name: 'writes', run: measureWrites },
  {
    name: 'audit',
    async run(world) {
      const policy = join(world.directory, 'audit-policy.yaml');
      await writeFile(policy, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: RequestResponse}]\n');
      const log = join(world.directory, 'audit', 'audit.log');
      const flags = [`--audit-policy-file=${policy}`, `--audit-log-path=${log}`, '--audit-log-mode=batch'];
      const start = (name: string, own: readonly string[]) =>
        startOurs(join(world.directory, name), world.store, world.etcdUrl, [
          ...own,
          // Both use one etcd.
          ...(world.etcdUrl === undefined ? [] : [`--etcd-prefix=/${name}`]),
        ]);
      const servers = { audited: await start('audited', flags), plain: await start('plain', []) };
      try {
        const audited: Measured[] = [];
        const plain: Measured[] = [];
        for (let round = 0; round < auditRounds; round++) {
          audited.push(await measureCreates(world, servers.audited, round));
          plain.push(await measureCreates(world, servers.plain, round));
        }
        // The bare server of this row is Keelson without an audit log.
        return [{ type: 'load', label: 'create, audit log / none', ours: medianOf(audited), bare: medianOf(plain) }];
      } finally {
        await Promise.all([servers.audited.stop(), servers.plain.stop()]);
      }
    },
  },
  {
    name: 'admission',
    async run(world) {
      const start = (name: string, flags: readonly string[] = []) =>
        startOurs(join(world.directory, name), world.store, world.etcdUrl, [
          ...flags,
          ...(world.etcdUrl === undefined ? [] : [`--etcd-prefix=/${name}`]),
        ]);
      const webhook = await startAdmissionWebhook();
      const servers = {
        plain: await start('plain'),
        webhooks: await start('webhooks'),
        policies: await start('policies'),
        off: await start('off', [`--disable-admission-plugins=${configurablePlugins.join(',')}`]),
      };
      const names = ['plain', 'webhooks', 'policies', 'off'] as const;
      try {
        for (const { path, body } of webhookConfigurations(webhook)) await must(servers.webhooks, 'POST', path, body);
        for (const { path, body } of policies) await must(servers.policies, 'POST', path, body);
        await arePoliciesInForce(servers.policies);
        const rounds: Record<(typeof names)[number], Measured[]> = { plain: [], webhooks: [], policies: [], off: [] };
        const object = { plural: 'configmaps', body: configMap('made-@@@@@@@@') };
        for (let round = 0; round < admissionRounds; round++) {
          for (const name of names) rounds[name].push(await measureCreates(world, servers[name], round, object));
        }
        const { mutating, validating } = webhook.answered;
        if (mutating === 0 || validating === 0) throw new Error('the webhooks were not called');
        // The bare server of these rows is Keelson without webhooks and policies.
        const row = (label: string, ours: Measured[], bare: Measured[]): Row => ({
          type: 'load',
          label,
          ours: medianOf(ours),
          bare: medianOf(bare),
        });
        return [
          row('create, 2 webhooks / none', rounds.webhooks, rounds.plain),
          row('create, 3 policies / none', rounds.policies, rounds.plain),
          row('create, no plug-in in use', rounds.plain, rounds.off),
        ];
      } finally {
        await Promise.all(names.map((name) => servers[name].stop()));
        webhook.stop();
      }
    },
  },
  {
    name: 'watch',
    async run(world) {
      const { servers } = world;
      const side = async (type: keyof Servers, more: { seconds: number; writers?: number; perSecond?: number }) => ({
        job: await fanOutOn(type, servers, { watchers, warmUpMs, ...more }),
        serverPids: [servers[type].pid],
      });
      const seconds = world.seconds / rounds;
      // With one writer, the bare server writes every event alone.
      const load = { ours: await side('ours', { seconds }), bare: await side('bare', { seconds, writers: 1 }) };
      const loads = await compare(load, rounds);
      const paced = { seconds: world.seconds / 2, perSecond: pacedPerSecond };
      const latency = { ours: await side('ours', paced), bare: await side('bare', paced) };
      const latencies = await compare(latency, pacedRounds, 'p99Ms');
      const p99 = { label: 'the same, 10 a second: p99', unit: 'ms', target: 30 } as const;
      return [
        { type: 'load', label: 'watch, 1,000 watchers', target: 0.6, ...loads },
        { type: 'size', ...p99, ours: latencies.ours.p99Ms, bare: latencies.bare.p99Ms },
      ];
    },
  },
  {
    name: 'tokens',
    async run(world) {
      const webhook = await startTokenWebhook();
      const issuer = await startJwtIssuer();
      const directory = join(world.directory, 'tokens');
      const ours = await startOurs(directory, 'memory', undefined, [
        `--authentication-token-webhook-config-file=${await webhook.kubeconfig(world.directory)}`,
        '--enable-bootstrap-token-auth',
        `--oidc-issuer-url=${issuer.url}`,
        `--oidc-client-id=${issuer.audience}`,
        `--oidc-ca-file=${await issuer.caFile(world.directory)}`,
        '--oidc-username-prefix=-',
        // The same authorization for all users.
        '--authorization-mode=AlwaysAllow',
      ]);
      try {
        const by = (label: string, token: string, target = ours.target): Promise<Row> => {
          const servers = { ...world.servers, ours: { ...ours, token, target } };
          // wrk sends no client certificates.
          return getOnBoth({ ...world, servers, usesWrk: false }, { label: `GET, ${label}` }, smallPath);
        };
        await smallObject({ ...world, servers: { ...world.servers, ours } });
        return [
          await by('static token', ours.token),
          await by('webhook token', webhookToken),
          await by('service account token', await serviceAccountToken(ours)),
          await by('bootstrap token', await bootstrapToken(ours)),
          await by('OpenID issuer token', issuer.token),
          await by('client certificate', '', { ...ours.target, client: await adminCertificate(directory) }),
        ];
      } finally {
        await ours.stop();
        webhook.stop();
        issuer.stop();
      }
    },
  },
];

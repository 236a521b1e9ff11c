import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import * as http2 from 'node:http2';
import { join } from 'node:path';
import { makeAuthority, makeClientPair, makeKey, signerOf } from '../../src/certificates/authority.js';
import { packageRoot } from '../../src/config/config-files.js';
import { ClientKubeconfigs } from '../harness/client-kubeconfigs.js';
import { CriRuntimeProcess } from '../harness/cri-runtime.js';
import { startRbacServer } from '../harness/rbac-users.js';
import type { TestServer } from '../harness/servers.js';
import { startProgram } from '../harness/started-program.js';
import { agentRequests } from './agent-requests.js';
import { fuzzInBatches } from './fuzz-run.js';
import { RawClient, type Outcome } from './raw-client.js';
import { bytesOf, describeRequest, type FuzzRequest } from './requests.js';
import { chosenSeed } from '../harness/seed.js';

/** FUZZ_REQUESTS=100000 sends more; FUZZ_SEED=n repeats a run. */
const seed = chosenSeed();
const itemsMax = Number(process.env['FUZZ_REQUESTS'] ?? 6_000);
const timeMs = process.env['FUZZ_REQUESTS'] === undefined ? 10_000 : 3_600_000;
/** Two of each protocol and user. */
const lanes = 12;
const waitMs = 60_000;
/** Batches after which the memory of the agent is what it needs. */
const warmBatches = 60;
const growthBytesMax = 100 * 1024 * 1024;

const secret = 'the-secret-outside';
const files = new ClientKubeconfigs();
const runtime = new CriRuntimeProcess();
const users = ['admitted', 'stranger', 'anonymous'] as const;
type User = (typeof users)[number];
let server: TestServer;
let agent: Awaited<ReturnType<typeof startProgram>>;
let ca: string;
const credentials = {} as Record<User, { readonly certificate: string; readonly key: string }>;
const answersByCode = new Map<number, number>();

function makeLogs(): string {
  const logs = join(runtime.directory, 'log');
  mkdirSync(join(logs, 'sub'), { recursive: true });
  writeFileSync(join(runtime.directory, 'secret'), secret);
  writeFileSync(join(logs, 'sub/a.log'), 'a line\n');
  symlinkSync('a.log', join(logs, 'sub/link'));
  for (const directory of [logs, join(logs, 'sub')]) {
    symlinkSync('../..', join(directory, 'up'));
    symlinkSync(runtime.directory, join(directory, 'absolute'));
    symlinkSync(join(runtime.directory, 'secret'), join(directory, 'outside'));
    symlinkSync('loop', join(directory, 'loop'));
  }
  execFileSync('mkfifo', [join(logs, 'pipe')]);
  return logs;
}

beforeAll(async () => {
  ({ server } = await startRbacServer());
  const key = makeKey();
  const authority = await makeAuthority(key, Date.now());
  for (const name of ['admitted', 'stranger'] as const) {
    credentials[name] = await makeClientPair(
      signerOf(authority, key),
      { commonName: name, organizations: [] },
      Date.now(),
    );
  }
  credentials.anonymous = { certificate: '', key: '' };
  const apiGroup = 'rbac.authorization.k8s.io';
  await server.admin.post(`/apis/${apiGroup}/v1/clusterrolebindings`, {
    metadata: { name: 'admitted' },
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'system:kubelet-api-admin' },
    subjects: [{ apiGroup, kind: 'User', name: 'admitted' }],
  });
  const log = [[1, 'stdout', 'F', 'a line']] as const;
  const containers = [
    { name: 'live', logDirectory: join(runtime.directory, 'pods/live'), log },
    { name: 'done', state: 'exited', logDirectory: join(runtime.directory, 'pods/done'), log },
  ] as const;
  await runtime.start({ pods: [{ namespace: 'default', name: 'web-1', uid: 'uid-1', containers }] });
  const kubeconfig = files.kubeconfig(server.keelson, {
    'client-certificate-data': Buffer.from(server.keelson.client.certificate).toString('base64'),
    'client-key-data': Buffer.from(server.keelson.client.key).toString('base64'),
  });
  const root = join(files.directory, 'agent');
  agent = await startProgram(
    process.execPath,
    [
      ...[join(packageRoot, 'bin/keelson'), 'agent', '--address=127.0.0.1', '--port=0', '--healthz-port=0'],
      ...[`--root-dir=${root}`, `--kubeconfig=${kubeconfig}`, '--register-node=false', '--node-ip=127.0.0.1'],
      ...[`--container-runtime-endpoint=${runtime.endpoint}`, `--log-dir=${makeLogs()}`, '--anonymous-auth=false'],
      ...[`--client-ca-file=${files.write('ca.crt', authority)}`, '--authentication-token-webhook'],
      ...['--authorization-mode=Webhook', '--feature-gates=ContainerCheckpoint=true'],
    ],
    { cwd: files.directory },
  );
  ca = readFileSync(join(root, 'pki/kubelet.crt'), 'utf8');
});
afterAll(async () => {
  await agent.stop();
  await runtime.stop();
  await server.stop();
  files.remove();
});

const residentBytes = () =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${agent.pid}/status`, 'utf8'))![1]) * 1024;

const target = (user: User) => ({ url: agent.url, ca, client: credentials[user] });

/** Headers of a connection, which HTTP/2 does not have. */
const ofConnection = new Set(['connection', 'upgrade', 'te', 'transfer-encoding', 'trailer', 'expect']);

class Http2Client {
  private session: http2.ClientHttp2Session | undefined;
  constructor(private readonly user: User) {}

  async exchange({ method, target: path, headers, body }: FuzzRequest): Promise<Outcome | 'unsent'> {
    if (!this.session || this.session.closed || this.session.destroyed) {
      const { certificate: cert, key } = credentials[this.user];
      this.session = http2.connect(agent.url, { ca, ...(cert !== '' && { cert, key }) });
      this.session.on('error', () => undefined);
    }
    // Other paths are errors of the protocol: nghttp2 resets the stream.
    if (!path.startsWith('/')) return 'unsent';
    const sent = headers.filter(([name]) => !ofConnection.has(name));
    const isTunnel = method === 'CONNECT';
    const stream = this.session.request(
      { ':method': method, ...(isTunnel ? { ':authority': 'a:1' } : { ':path': path }), ...Object.fromEntries(sent) },
      { endStream: false },
    );
    stream.on('error', () => undefined);
    stream.end(body);
    const closed = once(stream, 'close').catch(() => undefined);
    let code = 0;
    stream.once('response', (received) => (code = Number(received[':status'])));
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    const late = setTimeout(() => stream.destroy(), waitMs);
    await closed;
    clearTimeout(late);
    if (code === 0) return 'closed';
    return { code, headers: new Map(), body: Buffer.concat(chunks), isStream: false };
  }

  close(): void {
    this.session?.destroy();
  }
}

/** Answers of the agent to clients that it does not let in, and to bytes that are not HTTP. */
const refusals = new Set([400, 401, 403, 405, 408, 411, 413, 414, 417, 431]);
/** Failures of the runtime, and of a command that it ran. */
const runtimeFailure = /^(checkpointing of .* failed|command '|rpc error: |exec|error dialing the runtime)/s;

/** Returns what is wrong with an answer, if anything. */
function problemOf(user: User, request: FuzzRequest, outcome: Outcome | 'unsent'): string | undefined {
  const isWhole = request.framing === undefined || request.framing === 'length' || request.framing === 'chunks';
  const mayLeaveHttp = request.headers.some(
    ([name]) => name === 'upgrade' || name === 'expect' || name === 'connection',
  );
  if (outcome === 'unsent') return undefined;
  if (outcome === 'silent') return isWhole && !mayLeaveHttp ? 'no answer' : undefined;
  if (outcome === 'closed') return isWhole && !mayLeaveHttp ? 'closed without an answer' : undefined;
  const { code, body } = outcome;
  answersByCode.set(code, (answersByCode.get(code) ?? 0) + 1);
  const text = body.toString();
  if (text.includes(secret) || text.includes('root:x:0:')) return 'a file outside of the directory of logs';
  if (user !== 'admitted') {
    if (!refusals.has(code) || (user === 'anonymous' && code === 403))
      return `${code} for ${user}: ${text.slice(0, 300)}`;
    return undefined;
  }
  if (code >= 500 && !runtimeFailure.test(text)) return `${code}: ${text.slice(0, 300)}`;
  return undefined;
}

it('no request leaves the directory of logs, passes the authorization, is a 5xx, or grows the agent', async () => {
  const laneUsers = Array.from({ length: lanes }, (_, lane) => users[lane % users.length]!);
  const http1 = laneUsers.map((user) => new RawClient(target(user) as never));
  const h2 = laneUsers.map((user) => new Http2Client(user));
  const probe = new Http2Client('admitted');
  const health: FuzzRequest = { method: 'GET', target: '/healthz', headers: [] };
  let warmBytes = 0;
  const tried = await fuzzInBatches(agentRequests, {
    ...{ seed, timeMs, itemsMax, lanes },
    check: async (request, lane) => {
      const user = laneUsers[lane]!;
      const isHttp2 = lane >= lanes / 2;
      const isCut = request.framing === 'tooLittle' || request.framing === 'badChunk';
      const leaves = request.headers.some(([name]) => name === 'upgrade' || name === 'expect' || name === 'connection');
      const outcome = isHttp2
        ? await h2[lane]!.exchange(request)
        : await http1[lane]!.exchange(bytesOf(request), {
            hasBody: request.method !== 'HEAD',
            waitMs: isCut || leaves ? 30 : waitMs,
          });
      // The rest of a body that was announced otherwise would be read as the next request.
      if (isCut || leaves || request.framing === 'tooMuch') http1[lane]!.close();
      const problem = problemOf(user, request, outcome);
      return problem && `${problem}\n${isHttp2 ? 'HTTP/2' : 'HTTP/1.1'} ${describeRequest(request)}`;
    },
    afterBatch: async (batches) => {
      if (!agent.isRunning()) throw new Error(`the agent ended: ${agent.output().slice(-2_000)}`);
      if (batches % 20 === 0) expect(await probe.exchange(health)).toMatchObject({ code: 200 });
      if (batches === warmBatches) warmBytes = residentBytes();
    },
  });
  const grown = warmBytes === 0 ? 0 : residentBytes() - warmBytes;
  const codes = [...answersByCode].sort(([a], [b]) => a - b).map(([code, count]) => `${code}: ${count}`);
  process.stderr.write(
    `fuzz: ${tried} requests, grew by ${Math.round(grown / 1024 / 1024)} MiB, ${codes.join(', ')}\n`,
  );
  for (const client of [...http1, ...h2, probe]) client.close();
  expect(tried).toBeGreaterThan(lanes);
  expect(grown).toBeLessThan(growthBytesMax);
  expect(
    agent
      .output()
      .split('\n')
      .filter((line) => line.includes('"level":50')),
  ).toEqual([]);
});

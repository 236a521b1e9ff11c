import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Crowd } from '../../scripts/simulation/crowd.js';
import { violationsOf } from '../../scripts/simulation/guarantees.js';
import { History } from '../../scripts/simulation/history.js';
import { HttpApi } from '../../scripts/simulation/http-api.js';
import { packageRoot } from '../../src/config/config-files.js';
import { systemClock } from '../../src/std/clock.js';
import { silentLogger } from '../../src/std/logger.js';
import { SeededRng, systemRng } from '../../src/std/rng.js';
import { openEtcdStore } from '../../src/storage/backends/etcd/etcd-store.js';
import { Composition, composedServices, type ComposedProcess } from '../harness/composition.js';
import { describeWithEtcd } from '../harness/etcd.js';
import { eventually, watchesAreQuiet } from '../harness/eventually.js';
import { HttpClient } from '../harness/http-client.js';
import type { Container, Manifest } from '../harness/packaged-objects.js';
import { findProgram, packagedDocuments, packagingPath, runTool } from '../harness/packaging.js';
import { startProgram } from '../harness/started-program.js';
import { TcpBalancer } from '../../scripts/faults/tcp-balancer.js';
import { chosenSeed } from '../harness/seed.js';

const services = composedServices();
const names = Object.keys(services);
const members = names.filter((name) => name.startsWith('etcd'));
const servers = names.filter((name) => name.startsWith('keelson'));
const haproxy = readFileSync(packagingPath('compose/haproxy.cfg'), 'utf8');

const openssl = findProgram('openssl', 'packaging/make-certificates.sh and the processes of the compose file');

describe('the compose file', () => {
  it('has three members, two servers and a load balancer in front of these servers', () => {
    expect([members, servers]).toEqual([
      ['etcd-1', 'etcd-2', 'etcd-3'],
      ['keelson-1', 'keelson-2'],
    ]);
    const backends = [...haproxy.matchAll(/^ {4}server (\S+) (\S+)$/gm)].map((match) => [match[1], match[2]]);
    expect(backends).toEqual(servers.map((name) => [name, `${name}:6443`]));
    expect(services['load-balancer']!.ports).toEqual(['127.0.0.1:6443:6443']);
  });

  it('runs every container read-only, without capabilities and not as root', () => {
    for (const [name, { user, read_only: readOnly, cap_drop: dropped, image }] of Object.entries(services)) {
      expect([name, readOnly, dropped]).toEqual([name, true, ['ALL']]);
      expect(user).toMatch(/^\$\{RUN_AS:\?/);
      expect(image).toMatch(/:v?\d/);
    }
  });

  it('mounts only files that make-certificates.sh creates, and no key of a CA of etcd', () => {
    const sources = Object.values(services).flatMap(({ volumes }) => volumes.map((volume) => volume.split(':')[0]!));
    expect([...new Set(sources)].sort()).toEqual([
      './data/etcd-1',
      './data/etcd-2',
      './data/etcd-3',
      './files/etcd/ca.crt',
      './files/etcd/client.crt',
      './files/etcd/client.key',
      './files/etcd/member.crt',
      './files/etcd/member.key',
      './files/pki',
      './files/pki/ca.crt',
      './haproxy.cfg',
    ]);
  });

  const program = findProgram('haproxy', 'haproxy -c of packaging/compose/haproxy.cfg');
  (program && openssl ? it : it.skip)('has a configuration that haproxy accepts', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'keelson-haproxy-'));
    try {
      await runTool(packagingPath('make-certificates.sh'), [folder]);
      const file = join(folder, 'haproxy.cfg');
      await runTool('sh', [
        '-c',
        `sed 's#/etc/haproxy/ca.crt#${folder}/pki/ca.crt#' "$0" > "$1"`,
        packagingPath('compose/haproxy.cfg'),
        file,
      ]);
      await runTool(program!, ['-c', '-f', file]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

(openssl ? describeWithEtcd : describe.skip)('the processes of the compose file', () => {
  const seed = chosenSeed();
  const rng = new SeededRng(seed);
  const fork = () => new SeededRng(rng.below(2 ** 31));
  const running = new Map<string, ComposedProcess>();
  let folder: string;
  let composition: Composition;
  let balancer: TcpBalancer;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'keelson-compose-'));
    await runTool(packagingPath('make-certificates.sh'), [join(folder, 'files'), '127.0.0.1', ...members, ...servers]);
    composition = await Composition.plan([...names, 'pod'], join(folder, 'files'), join(folder, 'data'));
    for (const name of members) running.set(name, composition.process(name, services[name]!));
    for (const name of servers) {
      // The crowd selects shards.
      const command = [...services[name]!.command, '--feature-gates=ShardedListAndWatch=true'];
      running.set(name, composition.process(name, { ...services[name]!, command }));
    }
    for (const process of running.values()) process.start();
    balancer = await TcpBalancer.start({
      backends: servers.map((name) => ({ host: '127.0.0.1', port: composition.port(name, 6443) })),
      ca: pem('pki/ca.crt'),
      checkPath: /uri (\S+)/.exec(haproxy)![1]!,
      checkIntervalMs: 250,
    });
    await ready(...servers);
  });
  afterAll(async () => {
    await balancer?.stop();
    await Promise.all([...running.values()].map((process) => process.kill()));
    rmSync(folder, { recursive: true, force: true });
  });

  const pem = (path: string) => readFileSync(join(folder, 'files', path), 'utf8');
  const admin = () => ({
    ca: pem('pki/ca.crt'),
    client: { certificate: pem('pki/admin.crt'), key: pem('pki/admin.key') },
  });
  const ready = (...expected: readonly string[]) => {
    const ports = expected.map((name) => composition.port(name, 6443)).sort();
    const outputs = () => servers.map((name) => `${name}: ${running.get(name)!.output.slice(-600)}`).join('\n');
    return eventually(`only ${expected.join()} ready`, () => String(balancer.readyPorts) === String(ports)).catch(
      (error: Error) => {
        throw new Error(`${error.message}\n${outputs()}`);
      },
    );
  };

  it('keep acknowledged writes while a server and a member of etcd are killed, and clients go on', async () => {
    const { ca, client } = admin();
    const api = new HttpApi('load balancer', { url: balancer.url, ca, client, timeoutMs: 20_000 });
    const crowd = new Crowd({ apis: [api], clock: systemClock, fork, pauseMsMax: 20, mayFail: () => true });
    await crowd.makeNamespaces();
    crowd.start(6);
    const { ledger } = crowd;
    const goesOn = async (after: string) => {
      const before = ledger.acknowledged;
      await eventually(`writes are acknowledged after ${after}`, () => ledger.acknowledged > before + 20);
    };
    await goesOn('the start');
    await running.get('keelson-1')!.kill();
    await goesOn('a server was killed');
    await ready('keelson-2');
    await running.get('etcd-1')!.kill();
    await goesOn('a member of etcd was killed');
    await ready('keelson-2');
    running.get('etcd-1')!.start();
    running.get('keelson-1')!.start();
    await ready(...servers);
    await running.get('keelson-2')!.kill('SIGTERM');
    await goesOn('the other server was stopped');
    running.get('keelson-2')!.start();
    await ready(...servers);
    await crowd.stop();
    await watchesAreQuiet(ledger);

    const store = await openEtcdStore({
      servers: members.map((name) => `https://127.0.0.1:${composition.port(name, 2379)}`),
      caFile: join(folder, 'files/etcd/ca.crt'),
      certFile: join(folder, 'files/etcd/client.crt'),
      keyFile: join(folder, 'files/etcd/client.key'),
      clock: systemClock,
      rng: systemRng,
      logger: silentLogger,
    });
    const history = await History.of(store).finally(() => store.close());
    const violations = violationsOf(history, ledger).map(({ guarantee, message }) => `not ${guarantee}: ${message}`);
    crowd.close();
    api.close();
    if (violations.length > 0) throw new Error(`seed ${seed}:\n${violations.slice(0, 10).join('\n')}`);
  });

  it('take over the reconcilers of a killed server', async () => {
    const { ca, client } = admin();
    const http = new HttpClient({ url: balancer.url, ca, ...client });
    const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/keelson-reconcilers';
    const holder = async () =>
      (await http.get(lease).catch(() => undefined))?.body?.spec?.holderIdentity as string | undefined;
    await eventually('a leader', async () => (await holder()) !== undefined);
    const before = await holder();
    // The leader is unknown by name: after each server was killed once, every Lease of a dead leader has been taken over.
    // Leases do not name the process, so the second server is killed if the first was not the leader.
    for (const name of servers) {
      if ((await holder()) !== before) break;
      await running.get(name)!.kill();
      const namespace = `after-${name}`;
      await eventually('a namespace is created', async () => {
        const answer = await http.post('/api/v1/namespaces', { metadata: { name: namespace } }).catch(() => undefined);
        return answer?.code === 201 || answer?.code === 409;
      });
      const account = `/api/v1/namespaces/${namespace}/serviceaccounts/default`;
      const isMade = async () => (await http.get(account).catch(() => undefined))?.code === 200;
      await eventually('its ServiceAccount is created', isMade);
      running.get(name)!.start();
      await ready(...servers);
    }
    expect(await holder()).not.toBe(before);
    http.close();
  });

  it.each([
    { name: 'the Deployment', file: 'deployment.yaml' },
    { name: 'the static Pod', file: 'static-pod.yaml' },
  ])('share etcd with the command of $name, which becomes ready', async ({ file }) => {
    const [manifest] = packagedDocuments<Manifest>('kubernetes', file);
    const { containers } = (manifest!.spec.template?.spec ?? manifest!.spec) as { containers: Container[] };
    const { command = ['node', '/app/bin/keelson'], args = [] } = containers[0]!;
    const words = composition.words('pod', [...command.slice(2), ...args]).map((word) =>
      word
        .replace(/\$\(POD_IP\)|192\.0\.2\.10/, '127.0.0.1')
        .replace('https://127.0.0.1:2379', `https://127.0.0.1:${composition.port('etcd-2', 2379)}`)
        .replace('/etc/kubernetes/pki', kubeadmFiles())
        // The range of the other servers.
        .replace('10.96.0.0/12', '10.0.0.0/24'),
    );
    const program = join(packageRoot, command[1]!.replace('/app/', ''));
    const server = await startProgram(process.execPath, [program, ...words], { cwd: folder });
    const { ca, client } = admin();
    const http = new HttpClient({ url: `https://127.0.0.1:${composition.port('pod', 6443)}`, ca, ...client });
    try {
      let report = '';
      const isReady = async () => {
        const { code, text } = await http.get('/readyz?verbose');
        report = text;
        return code === 200;
      };
      await eventually('ready', isReady).catch((error: Error) => {
        throw new Error(`${error.message}:\n${report}${server.output()}`);
      });
      expect((await http.get('/api/v1/namespaces/default')).code).toBe(200);
    } finally {
      http.close();
      await server.stop('SIGKILL');
    }
  });

  /** The files of make-certificates.sh under the names that kubeadm gives them. */
  function kubeadmFiles(): string {
    const target = join(folder, 'kubeadm');
    mkdirSync(join(target, 'etcd'), { recursive: true });
    for (const [from, to] of [
      ['pki/ca.crt', 'ca.crt'],
      ['pki/apiserver.crt', 'apiserver.crt'],
      ['pki/apiserver.key', 'apiserver.key'],
      ['pki/sa.key', 'sa.key'],
      ['pki/sa.pub', 'sa.pub'],
      ['etcd/ca.crt', 'etcd/ca.crt'],
      ['pki/front-proxy-ca.crt', 'front-proxy-ca.crt'],
      ['pki/front-proxy-client.crt', 'front-proxy-client.crt'],
      ['pki/front-proxy-client.key', 'front-proxy-client.key'],
      ['etcd/client.crt', 'apiserver-etcd-client.crt'],
      ['etcd/client.key', 'apiserver-etcd-client.key'],
    ] as const)
      copyFileSync(join(folder, 'files', from), join(target, to));
    return target;
  }

  it('write no file except in their own directories, which others cannot read', () => {
    expect(readdirSync(join(folder, 'files/pki')).sort()).toEqual([
      'admin.crt',
      'admin.key',
      'apiserver.crt',
      'apiserver.key',
      'ca.crt',
      'ca.key',
      'front-proxy-ca.crt',
      'front-proxy-ca.key',
      'front-proxy-client.crt',
      'front-proxy-client.key',
      'sa.key',
      'sa.pub',
    ]);
    for (const name of servers) expect(readdirSync(join(folder, 'data', name))).toEqual(['admin.kubeconfig']);
    expect(existsSync(join(folder, 'files/admin.kubeconfig'))).toBe(true);
    expect(statSync(join(folder, 'files/admin.kubeconfig')).mode & 0o077).toBe(0);
  });
});

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from './config-files.js';
import { flagsByName } from './flags/all-flags.js';
import { ConfigError, defaultConfig, loadConfig, type LoadOptions } from './load-config.js';
import type { ServerConfig } from './server-config.js';

let directory: string;
beforeAll(() => (directory = mkdtempSync(join(tmpdir(), 'config-'))));
afterAll(() => rmSync(directory, { recursive: true }));

interface Given {
  readonly argv?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly file?: string;
  readonly defaults?: LoadOptions['defaults'];
}

function load({ argv = [], env = {}, file, defaults = 'keelson' }: Given) {
  const path = join(directory, 'server.yaml');
  if (file !== undefined) writeFileSync(path, file);
  return loadConfig(file === undefined ? argv : [...argv, `--config=${path}`], env, { defaults });
}

function loaded(given: Given): ServerConfig {
  const result = load(given);
  if (result.errors) throw new Error(result.errors.join('\n'));
  return result.config;
}

const errorsOf = (given: Given) => load(given).errors?.map((error) => error.replaceAll(directory, ''));
const etcd = '--etcd-servers=http://127.0.0.1:2379';

test('the defaults of keelson', () => {
  expect(loaded({})).toMatchObject({
    kubeconfigOut: '.keelson/admin.kubeconfig',
    storage: {
      backend: 'embedded',
      dataDirectory: '.keelson',
      etcd: { servers: [], prefix: '/registry', compactionIntervalMs: 300_000 },
    },
    serving: {
      bindAddress: '127.0.0.1',
      securePort: 6443,
      certDirectory: '.keelson/pki',
      http2: true,
      tlsMinVersion: 'VersionTLS12',
    },
    authentication: { anonymous: true },
    admission: { allowPrivileged: true },
    authorization: { modes: ['RBAC'] },
    network: { serviceClusterIpRanges: ['10.0.0.0/24'], endpointReconciler: 'lease' },
    requestTimeoutMs: 60_000,
    minRequestTimeoutSeconds: 1800,
    limits: { requestBodyBytesMax: 3_145_728, snapshotRetentionMs: 75_000 },
  });
});

test("the defaults of kube-apiserver's name", () => {
  expect(loaded({ argv: [etcd], defaults: 'kube-apiserver' })).toMatchObject({
    kubeconfigOut: undefined,
    storage: { backend: 'etcd3' },
    serving: { bindAddress: '0.0.0.0', certDirectory: '/var/run/kubernetes' },
    authentication: { anonymous: false },
    authorization: { modes: ['AlwaysAllow'] },
    admission: { allowPrivileged: false },
  });
  expect(errorsOf({ defaults: 'kube-apiserver' })).toEqual([expect.stringContaining('--etcd-servers: must be given')]);
});

test.each<{ name: string; given: Given; want: object }>([
  {
    name: '--flag=value and --flag value',
    given: { argv: ['--secure-port=7443', '--data-dir', '/x'] },
    want: { serving: { securePort: 7443, certDirectory: '/x/pki' }, kubeconfigOut: '/x/admin.kubeconfig' },
  },
  {
    name: 'switches',
    given: { argv: ['--disable-http2-serving', '--anonymous-auth=false'] },
    want: { serving: { http2: false }, authentication: { anonymous: false } },
  },
  {
    name: 'durations',
    given: { argv: ['--request-timeout=1m30s', '--livez-grace-period', '300ms'] },
    want: { requestTimeoutMs: 90_000, livezGracePeriodMs: 300 },
  },
  {
    name: 'lists',
    given: { argv: ['--authorization-mode=Node,RBAC', '--cors-allowed-origins=^a$', '--cors-allowed-origins=//b:'] },
    want: { authorization: { modes: ['Node', 'RBAC'] }, serving: { corsAllowedOrigins: ['^a$', '//b:'] } },
  },
  {
    name: 'the last of several',
    given: { argv: ['--secure-port=1', '--secure-port=2'] },
    want: { serving: { securePort: 2 } },
  },
  { name: 'a short flag', given: { argv: ['-v', '4'] }, want: { log: { level: 'debug' } } },
  {
    name: 'gates',
    given: { argv: ['--feature-gates=kube:CBORServingAndStorage=true,WatchList=false'] },
    want: {
      featureGates: {
        CBORServingAndStorage: true,
        WatchList: false,
        ListFromCacheSnapshot: true,
        ShardedListAndWatch: false,
      },
    },
  },
  {
    name: 'all alpha gates but one',
    given: { argv: ['--feature-gates=AllAlpha=true,ShardedListAndWatch=false'] },
    want: { featureGates: { CBORServingAndStorage: true, ShardedListAndWatch: false } },
  },
  {
    name: 'APIs',
    given: { argv: ['--runtime-config=api/beta,batch/v1=false', '--runtime-config=v1=true'] },
    want: { runtimeConfig: { 'api/beta': true, 'batch/v1': false, v1: true } },
  },
  {
    name: 'the release whose metrics are shown',
    given: { argv: ['--show-hidden-metrics-for-version=1.36'] },
    want: { showHiddenMetricsForVersion: '1.36' },
  },
  {
    name: 'certificates by name',
    given: { argv: ['--tls-sni-cert-key=a.crt,a.key:x.io,*.x.io', '--tls-sni-cert-key=b.crt,b.key'] },
    want: {
      serving: {
        sniCertKeys: [
          { certFile: 'a.crt', keyFile: 'a.key', names: ['x.io', '*.x.io'] },
          { certFile: 'b.crt', keyFile: 'b.key', names: [] },
        ],
      },
    },
  },
  { name: 'etcd by its servers', given: { argv: [etcd] }, want: { storage: { backend: 'etcd3' } } },
  {
    name: 'one client authority in both places',
    given: { argv: ['--client-ca-file=ca'] },
    want: { authentication: { clientCaFile: 'ca' }, serving: { clientCaFile: 'ca' } },
  },
  {
    name: 'anonymous off where everything is allowed',
    given: { argv: ['--authorization-mode=AlwaysAllow'] },
    want: { authentication: { anonymous: false } },
  },
  {
    name: 'the svc names',
    given: { argv: ['--naming-profile=svc', '--api-domain=example.com'] },
    want: {
      naming: { apiDomain: 'example.com', labelDomain: 'example.com', systemPrefix: 'svc' },
    },
  },
  {
    name: 'environment',
    given: { env: { KEELSON_ETCD_SERVERS: 'http://a:1,http://b:2', KEELSON_V: '0' } },
    want: { storage: { etcd: { servers: ['http://a:1', 'http://b:2'] } } },
  },
  {
    name: 'a file',
    given: {
      file: 'secure-port: 1234\nauthorization-mode: [Node, RBAC]\nfeature-gates: {WatchList: false}\nrequest-timeout: 5s\nanonymous-auth: false\nlimits: {patchAttemptsMax: 9}\n',
    },
    want: {
      serving: { securePort: 1234 },
      authorization: { modes: ['Node', 'RBAC'] },
      featureGates: { WatchList: false },
      requestTimeoutMs: 5000,
      authentication: { anonymous: false },
      limits: { patchAttemptsMax: 9, storePageItems: 500 },
    },
  },
  {
    name: 'environment before file',
    given: { env: { KEELSON_SECURE_PORT: '2' }, file: 'secure-port: 1' },
    want: { serving: { securePort: 2 } },
  },
  {
    name: 'flag before environment',
    given: { argv: ['--secure-port=3'], env: { KEELSON_SECURE_PORT: '2' }, file: 'secure-port: 1' },
    want: { serving: { securePort: 3 } },
  },
  {
    name: 'a list of a flag replaces that of a file',
    given: { argv: ['--authorization-mode=RBAC'], file: 'authorization-mode: [Node, RBAC]' },
    want: { authorization: { modes: ['RBAC'] } },
  },
])('takes $name', ({ given, want }) => {
  expect(loaded(given)).toMatchObject(want);
});

test.each<{ name: string; given: Given; errors: string[] }>([
  {
    name: 'an unknown flag',
    given: { argv: ['--secure-prt=1'] },
    errors: ['--secure-prt: unknown flag; did you mean --secure-port?'],
  },
  { name: 'an unknown flag far from all', given: { argv: ['--zzzzzzzz', 'x'] }, errors: ['--zzzzzzzz: unknown flag'] },
  {
    name: 'an unknown flag in a file',
    given: { file: 'secure_port: 1' },
    errors: ['/server.yaml: secure_port: unknown flag; did you mean secure-port?'],
  },
  {
    name: 'a prototype as a flag',
    given: { argv: ['--__proto__=1', '--constructor=1'] },
    errors: ['--__proto__: unknown flag', '--constructor: unknown flag'],
  },
  {
    name: 'a word',
    given: { argv: ['--profiling', 'false'] },
    errors: ['unexpected argument "false": flags are written --name=value'],
  },
  { name: 'a missing value', given: { argv: ['--secure-port'] }, errors: ['--secure-port: a value is missing'] },
  { name: 'a number', given: { argv: ['--secure-port=x1'] }, errors: ['--secure-port: "x1" must be a whole number'] },
  {
    name: 'a port',
    given: { env: { KEELSON_SECURE_PORT: '70000' } },
    errors: ['KEELSON_SECURE_PORT: "70000" must be a port from 0 to 65535'],
  },
  {
    name: 'a switch',
    given: { argv: ['--anonymous-auth=maybe'] },
    errors: ['--anonymous-auth: "maybe" must be true or false'],
  },
  {
    name: 'a duration',
    given: { argv: ['--request-timeout=5 minutes'] },
    errors: ['--request-timeout: "5 minutes" must be a duration like 300ms, 30s or 1h30m'],
  },
  {
    name: 'a duration out of bounds',
    given: { argv: ['--request-timeout=0', '--livez-grace-period=-1s'] },
    errors: [
      '--livez-grace-period: "-1s" must be a duration of zero or more',
      '--request-timeout: "0" must be a duration of more than zero',
    ],
  },
  {
    name: 'a choice',
    given: { argv: ['--storage-backend=sqlite'] },
    errors: ['--storage-backend: "sqlite" must be one of embedded, memory, etcd3'],
  },
  {
    name: 'an authorization mode',
    given: { argv: ['--authorization-mode=Node,RBCA'] },
    errors: ['--authorization-mode: "RBCA" must be a list of AlwaysAllow, AlwaysDeny, ABAC, Webhook, RBAC, Node'],
  },
  {
    name: 'an authorization mode twice',
    given: { argv: ['--authorization-mode=RBAC,RBAC'] },
    errors: [
      '--authorization-mode: "RBAC,RBAC" must be a list of AlwaysAllow, AlwaysDeny, ABAC, Webhook, RBAC, Node, each at most once',
    ],
  },
  {
    name: 'no authorization mode',
    given: { argv: ['--authorization-mode='] },
    errors: ['--authorization-mode: at least one mode must be named'],
  },
  {
    name: 'modes without an authorizer',
    given: { argv: ['--authorization-mode=Webhook,AlwaysAllow'] },
    errors: ['--authorization-mode: Webhook is not asked by this version and cannot be combined with AlwaysAllow'],
  },
  {
    name: 'admission plugins that nobody knows, or that are on and off',
    given: {
      argv: [
        '--enable-admission-plugins=NodeRestrictions,ResourceQuota',
        '--disable-admission-plugins=Zzzzzzzzz,ResourceQuota',
      ],
    },
    errors: [
      '--enable-admission-plugins: NodeRestrictions is no known admission plugin; did you mean NodeRestriction?',
      '--disable-admission-plugins: Zzzzzzzzz is no known admission plugin',
      '--enable-admission-plugins, --disable-admission-plugins: ResourceQuota cannot be in both',
    ],
  },
  {
    name: 'admission plugins that are not built in',
    given: { argv: ['--enable-admission-plugins=ImagePolicyWebhook,NamespaceAutoProvision,JobValidation'] },
    errors: [
      '--enable-admission-plugins: ImagePolicyWebhook is not built into this server: take it off the list',
      '--enable-admission-plugins: NamespaceAutoProvision is not built into this server: take it off the list',
    ],
  },
  {
    name: 'a certificate without key',
    given: { argv: ['--tls-cert-file=c'] },
    errors: ['--tls-cert-file, --tls-private-key-file: give both or neither'],
  },
  {
    name: 'a proxy without headers',
    given: { argv: ['--requestheader-client-ca-file=c'] },
    errors: ['--requestheader-client-ca-file, --requestheader-username-headers: give both or neither'],
  },
  {
    name: 'etcd servers beside another backend',
    given: { argv: [etcd, '--storage-backend=memory'] },
    errors: ['--etcd-servers: cannot be combined with --storage-backend=memory'],
  },
  {
    name: 'an address',
    given: { argv: ['--bind-address=localhost'] },
    errors: ['--bind-address: "localhost" must be an IP address'],
  },
  {
    name: 'a service range',
    given: { argv: ['--service-cluster-ip-range=10.0.0.0/24,10.1.0.0/24'] },
    errors: [
      '--service-cluster-ip-range: "10.0.0.0/24,10.1.0.0/24" must be one CIDR like 10.0.0.0/24, or two of different IP families',
    ],
  },
  {
    name: 'an origin that matches anywhere',
    given: { argv: ['--cors-allowed-origins=example.com'] },
    errors: [
      '--cors-allowed-origins: "example.com" must be a list of regular expressions pinned by ^ or // and by $ or :',
    ],
  },
  {
    name: 'an origin that is no expression',
    given: { argv: ['--cors-allowed-origins=^(a$'] },
    errors: ['--cors-allowed-origins: "^(a$" must be a list of regular expressions pinned by ^ or // and by $ or :'],
  },
  {
    name: 'an unknown gate',
    given: { argv: ['--feature-gates=WatchLst=true'] },
    errors: ['--feature-gates: WatchLst is no known feature gate; did you mean WatchList?'],
  },
  {
    name: 'a locked gate',
    given: { argv: ['--feature-gates=APISelfSubjectReview=false'] },
    errors: ['--feature-gates: APISelfSubjectReview is locked to true and cannot be set to false'],
  },
  {
    name: 'a gate without a value',
    given: { argv: ['--feature-gates=WatchList'] },
    errors: ['--feature-gates: "WatchList" must be a list of Name=true or Name=false'],
  },
  {
    name: 'APIs that cannot be read',
    given: { argv: ['--runtime-config=apps,batch/v1=false'] },
    errors: [
      '--runtime-config: "apps" must be <group>/<version>, <group>/<version>/<resource> or api/all|ga|beta|alpha',
    ],
  },
  {
    name: 'APIs that are neither on nor off',
    given: { env: { KEELSON_RUNTIME_CONFIG: 'batch/v1=maybe' } },
    errors: ['KEELSON_RUNTIME_CONFIG: "maybe" must be true or false'],
  },
  {
    name: 'no APIs at all',
    given: { argv: ['--runtime-config=api/all=false'] },
    errors: ['--runtime-config: api/all=false alone leaves nothing to serve'],
  },
  {
    name: 'metrics of another release than the last',
    given: { argv: ['--show-hidden-metrics-for-version=1.35'] },
    errors: ['--show-hidden-metrics-for-version: "1.35" must be the previous release, 1.36'],
  },
  {
    name: 'a prototype as a gate',
    given: { argv: ['--feature-gates=__proto__=true'] },
    errors: ['--feature-gates: __proto__ is no known feature gate'],
  },
  {
    name: 'a domain',
    given: { argv: ['--naming-profile=svc', '--api-domain=<domain>', '--label-domain=x'] },
    errors: ['--api-domain: "<domain>" must be a DNS name of lower-case letters, digits, "-" and "."'],
  },
  {
    name: 'what must not be ignored',
    given: { argv: ['--encryption-provider-config=e'] },
    errors: [
      '--encryption-provider-config: encryption at rest is not available, and objects would be stored in the clear',
    ],
  },
  {
    name: 'files whose rules would not hold',
    given: { argv: ['--authorization-config=a'] },
    errors: [
      '--authorization-config: the file is not read by this version, and what its authorizers deny would not be denied',
    ],
  },
  {
    name: 'an unknown limit',
    given: { file: 'limits: {patchAttemptMax: 1}' },
    errors: ['/server.yaml: limits.patchAttemptMax: unknown limit; did you mean patchAttemptsMax?'],
  },
  {
    name: 'a limit out of bounds',
    given: { file: 'limits: {patchAttemptsMax: 0}' },
    errors: ['/server.yaml: limits.patchAttemptsMax must be a whole number of at least 1'],
  },
  {
    name: 'a file in a file',
    given: { file: 'config: x' },
    errors: ['/server.yaml: config: a file cannot name another one'],
  },
  {
    name: 'a file that is no mapping',
    given: { file: '- a' },
    errors: ['--config: /server.yaml cannot be read: the file must hold a mapping'],
  },
  {
    name: 'a value of the wrong kind in a file',
    given: { file: 'secure-port: [1]' },
    errors: ['/server.yaml: secure-port: a value of this kind cannot be given to --secure-port'],
  },
  {
    name: 'everything at once',
    given: { argv: ['--nope', '--secure-port=x', '--event-ttl=x', '--bind-address=::', '--goaway-chance=y'] },
    errors: [
      '--nope: unknown flag',
      '--secure-port: "x" must be a whole number',
      '--event-ttl: "x" must be a duration like 300ms, 30s or 1h30m',
      '--goaway-chance: "y" must be a number',
    ],
  },
])('refuses $name', ({ given, errors }) => {
  expect(errorsOf(given)).toEqual(errors);
});

test('accepted flags are named once each', () => {
  const result = load({
    argv: ['--permit-port-sharing', '--permit-port-sharing=true', '--audit-log-path=-', '--secure-port=1'],
    env: { KEELSON_CONTENTION_PROFILING: 'false' },
  });
  expect(result.errors).toBeUndefined();
  expect(!result.errors && result.warnings.map((warning) => warning.flag).sort()).toEqual([
    'audit-log-path',
    'contention-profiling',
    'permit-port-sharing',
  ]);
});

test.each([
  [
    '--node-monitor-grace-period=50s',
    '--node-monitor-grace-period has no effect: what it asks for is not served by this version',
  ],
  ['--permit-port-sharing', '--permit-port-sharing is accepted for compatibility and has no effect'],
  [
    '--feature-gates=WatchList=true,SidecarContainers=true',
    'the GA feature gate SidecarContainers is set to true: a future release will not know it',
  ],
])('%s is warned of', (word, message) => {
  expect(load({ argv: [word] })).toMatchObject({ warnings: [{ message }] });
});

test('anonymous requests that are asked for beside AlwaysAllow are refused with a warning', () => {
  const result = load({ argv: ['--anonymous-auth', '--authorization-mode=AlwaysAllow'] });
  expect(result).toMatchObject({
    config: { authentication: { anonymous: false } },
    warnings: [{ flag: 'anonymous-auth' }],
  });
});

test('the whole configuration is frozen', () => {
  const thawed: string[] = [];
  const visit = (value: unknown, path: string) => {
    if (typeof value !== 'object' || value === null) return;
    if (!Object.isFrozen(value)) thawed.push(path);
    for (const [name, inner] of Object.entries(value)) visit(inner, `${path}.${name}`);
  };
  visit(loaded({}), 'config');
  expect(thawed).toEqual([]);
});

test('overrides of a program are defaults elsewhere, derived from and checked', () => {
  const config = defaultConfig({
    storage: { backend: 'memory', dataDirectory: '/d' },
    serving: { securePort: 0 },
    naming: { profile: 'svc' },
    featureGates: { WatchList: false },
  });
  expect(config).toMatchObject({
    storage: { backend: 'memory', etcd: { prefix: '/registry' } },
    serving: { securePort: 0, certDirectory: '/d/pki' },
    featureGates: { WatchList: false, ListFromCacheSnapshot: true },
  });
  expect(config.naming.systemNamespace('system')).toBe('svc-system');
  expect(defaultConfig().storage.backend).toBe('embedded');
  const bad = () => defaultConfig({ serving: { securePort: -1 }, featureGates: { Nope: true } });
  expect(bad).toThrow(ConfigError);
  expect(bad).toThrow(/serving\.securePort must be a port.*/);
});

test('every flag in the document exists', () => {
  const document = readFileSync(join(packageRoot, 'docs/configuration.md'), 'utf8');
  const named = [...document.matchAll(/--([a-z][-a-z0-9]*)(?![-*a-z0-9])/g)].map((match) => match[1]!);
  const notFlags = ['help', 'version', 'name', 'switch'];
  expect(named.filter((name) => !flagsByName.has(name) && !notFlags.includes(name))).toEqual([]);
});

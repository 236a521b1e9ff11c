import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { configLoader, type Given } from '../../test/harness/config-loader.js';
import { packageRoot } from './config-files.js';
import { flagsByName } from './flags/all-flags.js';
import { ConfigError, defaultConfig, loadConfig } from './load-config.js';

const { load, loaded, errorsOf } = configLoader();
const etcd = '--etcd-servers=http://127.0.0.1:2379';

test('defaults of keelson serve', () => {
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

test('defaults of kube-apiserver', () => {
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
  {
    name: 'an AuthorizationConfiguration file instead of the default mode',
    given: { argv: ['--authorization-config=/a.yaml'] },
    want: { authorization: { configFile: '/a.yaml', modes: [] }, authentication: { anonymous: true } },
  },
  {
    name: 'a policy file for an AuthorizationConfiguration file',
    given: { argv: ['--authorization-config=/a.yaml', '--authorization-policy-file=/p'] },
    want: { authorization: { configFile: '/a.yaml', policyFile: '/p' } },
  },
  {
    name: 'an authorization webhook',
    given: {
      argv: [
        ...['--authorization-mode=Webhook,RBAC', '--authorization-webhook-config-file=/w'],
        ...['--authorization-webhook-version=v1', '--authorization-webhook-cache-authorized-ttl=0'],
      ],
    },
    want: {
      authorization: {
        modes: ['Webhook', 'RBAC'],
        webhook: { configFile: '/w', version: 'v1', authorizedTtlMs: 0, unauthorizedTtlMs: 30_000 },
      },
    },
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
  { name: 'the etcd3 backend from --etcd-servers', given: { argv: [etcd] }, want: { storage: { backend: 'etcd3' } } },
  {
    name: '--client-ca-file for TLS and authentication',
    given: { argv: ['--client-ca-file=ca'] },
    want: { authentication: { clientCaFile: 'ca' }, serving: { clientCaFile: 'ca' } },
  },
  {
    name: 'no anonymous requests with AlwaysAllow',
    given: { argv: ['--authorization-mode=AlwaysAllow'] },
    want: { authentication: { anonymous: false } },
  },
  {
    name: 'the naming profile svc',
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
      file: 'secure-port: 1234\nauthorization-mode: [Node, RBAC]\nfeature-gates: {WatchList: false}\nrequest-timeout: 5s\nanonymous-auth: false\nlimits: {objectWritersWaitingMax: 9}\n',
    },
    want: {
      serving: { securePort: 1234 },
      authorization: { modes: ['Node', 'RBAC'] },
      featureGates: { WatchList: false },
      requestTimeoutMs: 5000,
      authentication: { anonymous: false },
      limits: { objectWritersWaitingMax: 9, storePageItems: 500 },
    },
  },
  {
    name: 'no OpenID issuer by default',
    given: {},
    want: { authentication: { oidc: { isGiven: false, usernameClaim: 'sub', signingAlgorithms: ['RS256'] } } },
  },
  {
    name: 'the issuer of --oidc-*',
    given: {
      argv: [
        ...['--oidc-issuer-url=https://a.example', '--oidc-client-id=c', '--oidc-username-prefix=-'],
        ...['--oidc-required-claim=a=b,c', '--oidc-required-claim=d=e=f', '--oidc-signing-algs=ES256,RS512'],
      ],
    },
    want: {
      authentication: {
        oidc: {
          ...{ isGiven: true, issuerUrl: 'https://a.example', clientId: 'c', usernamePrefix: '-' },
          ...{ requiredClaims: ['a=b,c', 'd=e=f'], signingAlgorithms: ['ES256', 'RS512'] },
        },
      },
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
])('loads $name', ({ given, want }) => {
  expect(loaded(given)).toMatchObject(want);
});

test('each flag without effect causes one warning', () => {
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
  ['--pod-eviction-timeout=50s', '--pod-eviction-timeout has no effect: this server does not implement the feature'],
  ['--permit-port-sharing', '--permit-port-sharing is accepted for compatibility and has no effect'],
  [
    '--feature-gates=WatchList=true,SidecarContainers=true',
    'the GA feature gate SidecarContainers=true will be removed in a future release; remove it from --feature-gates',
  ],
])('%s causes the warning: %s', (word, message) => {
  expect(load({ argv: [word] })).toMatchObject({ warnings: [{ message }] });
});

test('a limit of an earlier version causes a warning and has no effect', () => {
  const result = load({ file: 'limits: {patchAttemptsMax: 9}' });
  expect(result).toMatchObject({ warnings: [{ message: expect.stringContaining('limits.patchAttemptsMax has no effect') }] }); // prettier-ignore
  expect(result).not.toHaveProperty('config.limits.patchAttemptsMax');
});

test('--anonymous-auth with AlwaysAllow causes a warning and has no effect', () => {
  const result = load({ argv: ['--anonymous-auth', '--authorization-mode=AlwaysAllow'] });
  expect(result).toMatchObject({
    config: { authentication: { anonymous: false } },
    warnings: [{ flag: 'anonymous-auth' }],
  });
});

test('the configuration is deeply frozen', () => {
  const thawed: string[] = [];
  const visit = (value: unknown, path: string) => {
    if (typeof value !== 'object' || value === null) return;
    if (!Object.isFrozen(value)) thawed.push(path);
    for (const [name, inner] of Object.entries(value)) visit(inner, `${path}.${name}`);
  };
  visit(loaded({}), 'config');
  expect(thawed).toEqual([]);
});

test('defaultConfig applies overrides, derives settings and validates', () => {
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

test('flags accept the names of own plug-ins and reconcilers', () => {
  const extensions = { admissionPlugins: [{ name: 'TeamLabel' }], reconcilers: [{ name: 'key-count-controller' }] };
  const argv = ['--disable-admission-plugins=TeamLabel', '--controllers=*,-key-count-controller'];
  const withExtensions = loadConfig(argv, {}, { defaults: 'keelson', ...extensions });
  expect(withExtensions).toMatchObject({ warnings: [], config: { admission: { disabledPlugins: ['TeamLabel'] } } });
  expect(loadConfig(argv, {}, { defaults: 'keelson' })).toEqual({
    errors: [
      '--disable-admission-plugins: unknown admission plug-in TeamLabel',
      '--controllers: unknown reconciler -key-count-controller',
    ],
  });
  const meant = () => defaultConfig({ admission: { enabledPlugins: ['TeamLable'] } }, extensions);
  expect(meant).toThrow('unknown admission plug-in TeamLable; did you mean TeamLabel?');
});

test('an own plug-in may have the name of one that this server does not implement', () => {
  const enable = { admission: { enabledPlugins: ['ImagePolicyWebhook'] } };
  expect(() => defaultConfig(enable)).toThrow('ImagePolicyWebhook is not implemented by this server');
  const config = defaultConfig(enable, { admissionPlugins: [{ name: 'ImagePolicyWebhook' }] });
  expect(config.admission.enabledPlugins).toEqual(['ImagePolicyWebhook']);
});

test('every flag named in docs/configuration.md exists', () => {
  const document = readFileSync(join(packageRoot, 'docs/configuration.md'), 'utf8');
  const named = [...document.matchAll(/--([a-z][-a-z0-9]*)(?![-*a-z0-9])/g)].map((match) => match[1]!);
  const notFlags = ['help', 'version', 'name', 'switch'];
  expect(named.filter((name) => !flagsByName.has(name) && !notFlags.includes(name))).toEqual([]);
});

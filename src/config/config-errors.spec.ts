import { configLoader, type Given } from '../../test/harness/config-loader.js';
import { cipherSuiteNames } from './tls-names.js';

const { errorsOf } = configLoader();
const etcd = '--etcd-servers=http://127.0.0.1:2379';

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
    name: '__proto__ as a flag',
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
    name: '--oidc-* without an issuer',
    given: { argv: ['--oidc-username-claim=sub'] },
    errors: ['--oidc-issuer-url, --oidc-client-id: must be given together if any --oidc-* flag is given'],
  },
  {
    name: '--oidc-* beside --authentication-config',
    given: { argv: ['--oidc-issuer-url=https://a', '--oidc-client-id=c', '--authentication-config=/a'] },
    errors: ['--authentication-config, --oidc-*: cannot be given together; name the issuer in the file, under jwt'],
  },
  {
    name: 'a required claim without a value',
    given: { argv: ['--oidc-issuer-url=https://a', '--oidc-client-id=c', '--oidc-required-claim=a'] },
    errors: ['--oidc-required-claim: "a" must be claim=value'],
  },
  {
    name: 'a signature algorithm with a shared key',
    given: { argv: ['--oidc-issuer-url=https://a', '--oidc-client-id=c', '--oidc-signing-algs=RS256,HS256'] },
    errors: [
      '--oidc-signing-algs: "HS256" must be a list of RS256, RS384, RS512, ES256, ES384, ES512, PS256, PS384, PS512',
    ],
  },
  {
    name: 'a choice',
    given: { argv: ['--storage-backend=sqlite'] },
    errors: ['--storage-backend: "sqlite" must be one of embedded, memory, etcd3'],
  },
  {
    name: 'TLS versions and cipher suites that are not offered',
    given: { argv: ['--tls-min-version=VersionTLS10', '--tls-cipher-suites=TLS_RSA_WITH_RC4_128_SHA'] },
    errors: [
      '--tls-min-version: "VersionTLS10" must be one of VersionTLS12, VersionTLS13',
      `--tls-cipher-suites: "TLS_RSA_WITH_RC4_128_SHA" must be a list of ${cipherSuiteNames.join(', ')}`,
    ],
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
    name: 'the Webhook mode without its kubeconfig',
    given: { argv: ['--authorization-mode=Webhook,RBAC'] },
    errors: ['--authorization-webhook-config-file, --authorization-mode=Webhook: give both or neither'],
  },
  {
    name: 'the kubeconfig of the webhook without its mode',
    given: { argv: ['--authorization-webhook-config-file=w', '--authorization-mode=RBAC'] },
    errors: ['--authorization-webhook-config-file, --authorization-mode=Webhook: give both or neither'],
  },
  {
    name: 'the kubeconfig of the webhook with the default mode',
    given: { argv: ['--authorization-webhook-config-file=w'] },
    errors: ['--authorization-webhook-config-file, --authorization-mode=Webhook: give both or neither'],
  },
  {
    name: 'a fault plan without permission for faults',
    given: { argv: ['--fault-plan-file=plan.yaml'] },
    errors: ['--fault-plan-file needs --allow-faults, which lets requests fail on purpose'],
  },
  {
    name: 'faults with several processes',
    given: { argv: ['--allow-faults', '--workers=2'] },
    errors: ['--allow-faults: cannot be combined with --workers, whose processes would count faults apart'],
  },
  {
    name: 'another version of SubjectAccessReview',
    given: { argv: ['--authorization-webhook-version=v2'] },
    errors: ['--authorization-webhook-version: "v2" must be one of v1beta1, v1'],
  },
  {
    name: 'a negative TTL of the authorization webhook',
    given: { argv: ['--authorization-webhook-cache-authorized-ttl=-1s'] },
    errors: [expect.stringContaining('--authorization-webhook-cache-authorized-ttl: "-1s" must be')],
  },
  ...[
    ['authorization-mode', 'RBAC'],
    ['authorization-mode', 'AlwaysAllow'],
    ['authorization-webhook-config-file', 'w'],
    ['authorization-webhook-version', 'v1beta1'],
    ['authorization-webhook-cache-authorized-ttl', '5m0s'],
    ['authorization-webhook-cache-unauthorized-ttl', '1s'],
  ].map(([flag, value]) => ({
    name: `--authorization-config with --${flag}=${value}`,
    given: { argv: ['--authorization-config=a', `--${flag}=${value}`] },
    errors: [`--authorization-config, --${flag}: cannot be given together; name the authorizers in the file`],
  })),
  {
    name: 'unknown admission plug-ins, and one that is enabled and disabled',
    given: {
      argv: [
        '--enable-admission-plugins=NodeRestrictions,ResourceQuota',
        '--disable-admission-plugins=Zzzzzzzzz,ResourceQuota',
      ],
    },
    errors: [
      '--enable-admission-plugins: unknown admission plug-in NodeRestrictions; did you mean NodeRestriction?',
      '--disable-admission-plugins: unknown admission plug-in Zzzzzzzzz',
      '--enable-admission-plugins, --disable-admission-plugins: ResourceQuota is enabled and disabled; remove it from one of them',
    ],
  },
  {
    name: 'admission plug-ins that are not implemented',
    given: { argv: ['--enable-admission-plugins=ImagePolicyWebhook,NamespaceAutoProvision,JobValidation'] },
    errors: [
      '--enable-admission-plugins: ImagePolicyWebhook is not implemented by this server; remove it from the list',
      '--enable-admission-plugins: NamespaceAutoProvision is not implemented by this server; remove it from the list',
    ],
  },
  {
    name: 'a certificate without key',
    given: { argv: ['--tls-cert-file=c'] },
    errors: ['--tls-cert-file, --tls-private-key-file: give both or neither'],
  },
  {
    name: 'a request header CA without username headers',
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
    name: 'a CORS origin without anchors',
    given: { argv: ['--cors-allowed-origins=example.com'] },
    errors: [
      '--cors-allowed-origins: "example.com" must be a list of regular expressions pinned by ^ or // and by $ or :',
    ],
  },
  {
    name: 'a CORS origin that is not a regular expression',
    given: { argv: ['--cors-allowed-origins=^(a$'] },
    errors: ['--cors-allowed-origins: "^(a$" must be a list of regular expressions pinned by ^ or // and by $ or :'],
  },
  {
    name: 'an unknown gate',
    given: { argv: ['--feature-gates=WatchLst=true'] },
    errors: ['--feature-gates: unknown feature gate WatchLst; did you mean WatchList?'],
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
    name: 'malformed keys of --runtime-config',
    given: { argv: ['--runtime-config=apps,batch/v1=false'] },
    errors: [
      '--runtime-config: "apps" must be <group>/<version>, <group>/<version>/<resource> or api/all|ga|beta|alpha',
    ],
  },
  {
    name: 'a value of --runtime-config other than true and false',
    given: { env: { KEELSON_RUNTIME_CONFIG: 'batch/v1=maybe' } },
    errors: ['KEELSON_RUNTIME_CONFIG: "maybe" must be true or false'],
  },
  {
    name: '--runtime-config that disables all APIs',
    given: { argv: ['--runtime-config=api/all=false'] },
    errors: ['--runtime-config: api/all=false disables all APIs; enable at least one'],
  },
  {
    name: '--show-hidden-metrics-for-version other than the previous release',
    given: { argv: ['--show-hidden-metrics-for-version=1.35'] },
    errors: ['--show-hidden-metrics-for-version: "1.35" must be the previous release, 1.36'],
  },
  {
    name: '__proto__ as a feature gate',
    given: { argv: ['--feature-gates=__proto__=true'] },
    errors: ['--feature-gates: unknown feature gate __proto__'],
  },
  {
    name: 'a domain',
    given: { argv: ['--naming-profile=svc', '--api-domain=<domain>', '--label-domain=x'] },
    errors: ['--api-domain: "<domain>" must be a DNS name of lower-case letters, digits, "-" and "."'],
  },
  {
    name: '--encryption-provider-config-automatic-reload without a file',
    given: { argv: ['--encryption-provider-config-automatic-reload'] },
    errors: ['--encryption-provider-config-automatic-reload: must be set with --encryption-provider-config'],
  },
  {
    name: 'an unknown limit',
    given: { file: 'limits: {storePageItem: 1}' },
    errors: ['/server.yaml: limits.storePageItem: unknown limit; did you mean storePageItems?'],
  },
  {
    name: 'a limit out of bounds',
    given: { file: 'limits: {storePageItems: 0}' },
    errors: ['/server.yaml: limits.storePageItems must be a whole number of at least 1'],
  },
  {
    name: 'a --config file that names another one',
    given: { file: 'config: x' },
    errors: ['/server.yaml: config: a --config file cannot include another one'],
  },
  {
    name: 'a --config file that is not a mapping',
    given: { file: '- a' },
    errors: ['--config: /server.yaml cannot be read: the file must contain a mapping'],
  },
  {
    name: 'a value of the wrong kind in a file',
    given: { file: 'secure-port: [1]' },
    errors: ['/server.yaml: secure-port: --secure-port does not take a list or mapping'],
  },
  {
    name: 'several mistakes, all of them reported',
    given: { argv: ['--nope', '--secure-port=x', '--event-ttl=x', '--bind-address=::', '--goaway-chance=y'] },
    errors: [
      '--nope: unknown flag',
      '--secure-port: "x" must be a whole number',
      '--event-ttl: "x" must be a duration like 300ms, 30s or 1h30m',
      '--goaway-chance: "y" must be a number',
    ],
  },
])('rejects $name', ({ given, errors }) => {
  expect(errorsOf(given)).toEqual(errors);
});

import { helpOptions } from '../flag-help.js';
import { ownYaml } from '../config-files.js';
import { parseFlagValue } from '../flag-value.js';
import { defaultConfig } from '../load-config.js';
import { readMapping } from '../settings.js';
import { flagsByName, flagTopics } from './all-flags.js';

const flags = flagTopics.flatMap((topic) => topic.flags);

/** The flags of kube-apiserver v1.36, without --help and --version. */
const reference = `
  admission-control admission-control-config-file advertise-address aggregator-reject-forwarding-redirect
  allow-metric-labels allow-metric-labels-manifest allow-privileged anonymous-auth api-audiences apiserver-count
  audit-log-batch-buffer-size audit-log-batch-max-size audit-log-batch-max-wait audit-log-batch-throttle-burst
  audit-log-batch-throttle-enable audit-log-batch-throttle-qps audit-log-compress audit-log-format audit-log-maxage
  audit-log-maxbackup audit-log-maxsize audit-log-mode audit-log-path audit-log-truncate-enabled
  audit-log-truncate-max-batch-size audit-log-truncate-max-event-size audit-log-version audit-policy-file
  audit-webhook-batch-buffer-size audit-webhook-batch-max-size audit-webhook-batch-max-wait
  audit-webhook-batch-throttle-burst audit-webhook-batch-throttle-enable audit-webhook-batch-throttle-qps
  audit-webhook-config-file audit-webhook-initial-backoff audit-webhook-mode audit-webhook-truncate-enabled
  audit-webhook-truncate-max-batch-size audit-webhook-truncate-max-event-size audit-webhook-version
  authentication-config authentication-token-webhook-cache-ttl authentication-token-webhook-config-file
  authentication-token-webhook-version authorization-config authorization-mode authorization-policy-file
  authorization-webhook-cache-authorized-ttl authorization-webhook-cache-unauthorized-ttl
  authorization-webhook-config-file authorization-webhook-version bind-address cert-dir client-ca-file
  contention-profiling coordinated-leadership-lease-duration coordinated-leadership-renew-deadline
  coordinated-leadership-retry-period cors-allowed-origins debug-socket-path default-not-ready-toleration-seconds
  default-unreachable-toleration-seconds delete-collection-workers disable-admission-plugins disable-http2-serving
  disabled-metrics egress-selector-config-file emulated-version emulation-forward-compatible enable-admission-plugins
  enable-aggregator-routing enable-bootstrap-token-auth enable-garbage-collector enable-logs-handler
  enable-priority-and-fairness encryption-provider-config encryption-provider-config-automatic-reload
  endpoint-reconciler-type etcd-cafile etcd-certfile etcd-compaction-interval etcd-count-metric-poll-period
  etcd-db-metric-poll-interval etcd-healthcheck-timeout etcd-keyfile etcd-prefix etcd-readycheck-timeout etcd-servers
  etcd-servers-overrides event-ttl external-hostname feature-gates goaway-chance http2-max-streams-per-connection
  kubelet-certificate-authority kubelet-client-certificate kubelet-client-key kubelet-port
  kubelet-preferred-address-types kubelet-read-only-port kubelet-timeout kubernetes-service-node-port
  lease-reuse-duration-seconds livez-grace-period log-flush-frequency log-json-info-buffer-size log-json-split-stream
  log-text-info-buffer-size log-text-split-stream logging-format max-connection-bytes-per-sec
  max-mutating-requests-inflight max-requests-inflight min-compatibility-version min-request-timeout oidc-ca-file
  oidc-client-id oidc-groups-claim oidc-groups-prefix oidc-issuer-url oidc-required-claim oidc-signing-algs
  oidc-username-claim oidc-username-prefix peer-advertise-ip peer-advertise-port peer-ca-file permit-address-sharing
  permit-port-sharing profiling proxy-client-cert-file proxy-client-key-file request-timeout
  requestheader-allowed-names requestheader-client-ca-file requestheader-extra-headers-prefix
  requestheader-group-headers requestheader-uid-headers requestheader-username-headers runtime-config
  runtime-config-emulation-forward-compatible secure-port service-account-extend-token-expiration
  service-account-issuer service-account-jwks-uri service-account-key-file service-account-lookup
  service-account-max-token-expiration service-account-signing-endpoint service-account-signing-key-file
  service-cluster-ip-range service-node-port-range show-hidden-metrics-for-version shutdown-delay-duration
  shutdown-send-retry-after shutdown-watch-termination-grace-period storage-backend storage-initialization-timeout
  storage-media-type strict-transport-security-directives tls-cert-file tls-cipher-suites tls-curve-preferences
  tls-min-version tls-private-key-file tls-sni-cert-key token-auth-file tracing-config-file v vmodule watch-cache
  watch-cache-sizes`
  .trim()
  .split(/\s+/);

test('every flag of kube-apiserver is declared', () => {
  expect(reference.filter((name) => !flagsByName.has(name))).toEqual([]);
});

test('flag names are unique', () => {
  expect(flags).toHaveLength(flagsByName.size);
});

test('every default can be parsed, and every flag has a help text', () => {
  for (const flag of flags) {
    expect(() => parseFlagValue(flag, [flag.default])).not.toThrow();
    expect(flag.help).toMatch(/\S{3}/);
  }
});

test('config/default.yaml names known flags', () => {
  expect(readMapping(ownYaml('default.yaml'), 'default.yaml').errors).toEqual([]);
});

test('every key names a property of the configuration', () => {
  const config = defaultConfig();
  const lost = flags.filter((flag) => {
    if (flag.key === undefined) return false;
    const steps = flag.key.split('.');
    const last = steps.pop()!;
    const parent = steps.reduce<unknown>((inner, step) => (inner as Record<string, unknown>)[step], config);
    return typeof parent !== 'object' || parent === null || !(last in parent);
  });
  expect(lost.map((flag) => flag.name)).toEqual([]);
});

test('the help lists every flag with its default under a topic', () => {
  const options = helpOptions('keelson');
  expect(options.map((option) => option.name()).sort()).toEqual([...flagsByName.keys()].sort());
  expect(options.every((option) => option.helpGroupHeading)).toBe(true);
  const described = (name: string) => options.find((option) => option.name() === name)!.description;
  expect(described('authorization-mode')).toContain('default RBAC');
  expect(described('cert-dir')).toContain('default <data-dir>/pki');
  expect(described('permit-port-sharing')).toContain('no effect here');
  const ofReference = helpOptions('kube-apiserver').find((option) => option.name() === 'authorization-mode')!;
  expect(ofReference.description).toContain('default AlwaysAllow');
});

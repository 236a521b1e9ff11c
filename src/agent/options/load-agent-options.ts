import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { gateProblem, resolveGates } from '../../config/feature-gates.js';
import { FlagValueError, parseFlagValue } from '../../config/flag-value.js';
import { namingProfile, type NamingProfileName } from '../../config/naming-profile.js';
import { setSettingAt } from '../../config/setting-path.js';
import { readArguments, type Settings } from '../../config/settings.js';
import { parseEvictionThresholds } from '../node/eviction-thresholds.js';
import { unspecifiedAddresses } from '../node/node-addresses.js';
import { labelProblems, reservedProblems } from '../node/node-settings.js';
import { agentFlags } from './agent-flags.js';
import type { AgentOptions } from './agent-options.js';
import { readKubeletConfiguration } from './kubelet-configuration.js';

type Loaded = { readonly options: AgentOptions; readonly errors?: undefined } | { readonly errors: readonly string[] };

/** AgentOptions while they are read. */
type Draft = Omit<AgentOptions, 'log'> & { readonly log: AgentOptions['log'] & { readonly verbosity: number } };

/** Loads the options from flags and the --config file, in this order of precedence. Returns all errors at once. */
export function loadAgentOptions(words: readonly string[]): Loaded {
  const fromArguments = readArguments(words, agentFlags);
  const file = fromArguments.values.get('config')?.texts.at(-1);
  const fromFile: Settings = file ? readKubeletConfiguration(file) : { values: new Map(), errors: [] };
  const errors = [...fromArguments.errors, ...fromFile.errors];
  const values: Settings['values'] = new Map([...fromFile.values, ...fromArguments.values]);

  const draft = emptyDraft();
  for (const flag of agentFlags.values()) {
    if (flag.aliasOf !== undefined) continue;
    const { texts, source } = values.get(flag.name) ?? { texts: [flag.default], source: `--${flag.name}` };
    try {
      setSettingAt(draft, flag.key!, parseFlagValue(flag, texts));
    } catch (error) {
      if (!(error instanceof FlagValueError)) throw error;
      errors.push(`${source}: ${error.message}`);
    }
  }
  const sourceOf = (name: string) => values.get(name)?.source ?? `--${name}`;
  if (errors.length === 0) errors.push(...problems(draft, sourceOf));
  if (errors.length > 0) return { errors: [...new Set(errors)] };
  return { options: derived(draft, values) };
}

function emptyDraft(): Draft {
  const parents = [...agentFlags.values()].flatMap(({ key }) => (key?.includes('.') ? [key.split('.')[0]!] : []));
  return Object.fromEntries(parents.map((name) => [name, {}])) as unknown as Draft;
}

function derived(draft: Draft, values: Settings['values']): AgentOptions {
  const { naming, log, runtime } = draft;
  const socket = (endpoint: string | undefined) => endpoint && `unix:${socketPath(endpoint)}`;
  const endpoint = runtime.endpoint === 'none' ? undefined : socket(runtime.endpoint);
  return {
    ...draft,
    nodeName: (draft.nodeName ?? hostname()).trim().toLowerCase(),
    certDirectory: values.has('cert-dir') ? draft.certDirectory : join(draft.rootDirectory, 'pki'),
    runtime: { ...runtime, endpoint, imageEndpoint: socket(runtime.imageEndpoint) ?? endpoint },
    featureGates: resolveGates(draft.featureGates),
    log: { level: !values.has('log-level') && log.verbosity >= 4 ? 'debug' : log.level },
    naming: namingProfile(naming.profile as NamingProfileName),
  };
}

const socketPath = (endpoint: string) => endpoint.replace(/^unix:(\/\/)?/, '');
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const taint = /^[^\s:=]{1,316}(=[^\s:=]{0,63})?:(NoSchedule|PreferNoSchedule|NoExecute)$/;

function problems(draft: Draft, sourceOf: (name: string) => string): string[] {
  const { serving, authentication, authorization, runtime, node, certificates } = draft;
  const found: string[] = [];
  const check = (isRight: boolean, flag: string, message: string) => {
    if (!isRight) found.push(`${sourceOf(flag)}: ${message}`);
  };
  const name = (draft.nodeName ?? hostname()).trim().toLowerCase();
  check(name.length <= 253 && subdomain.test(name), 'hostname-override', `"${name}" is not a DNS name`);
  for (const [flag, address] of [
    ['address', serving.address],
    ['healthz-bind-address', serving.healthzAddress],
  ] as const) {
    check(isIP(address) !== 0, flag, `"${address}" is not an IP address`);
  }
  for (const [flag, port] of [
    ['port', serving.port],
    ['healthz-port', serving.healthzPort],
  ] as const) {
    check(port >= 0 && port <= 65535, flag, 'must be a port from 0 to 65535');
  }
  const hasPair = (serving.tlsCertFile === undefined) === (serving.tlsPrivateKeyFile === undefined);
  check(hasPair, 'tls-cert-file', 'needs --tls-private-key-file, and the key needs the certificate');
  check(
    !certificates.rotatesServing || serving.tlsCertFile === undefined,
    'rotate-server-certificates',
    'cannot be combined with --tls-cert-file',
  );
  const needsApi = (isGiven: boolean, flag: string) =>
    check(!isGiven || draft.kubeconfig !== undefined, flag, needsKubeconfig);
  needsApi(authentication.webhook, 'authentication-token-webhook');
  needsApi(authorization.mode === 'Webhook', 'authorization-mode');
  needsApi(draft.bootstrapKubeconfig !== undefined, 'bootstrap-kubeconfig');
  needsApi(certificates.rotatesServing, 'rotate-server-certificates');
  for (const [flag, endpoint] of [
    ['container-runtime-endpoint', runtime.endpoint],
    ['image-service-endpoint', runtime.imageEndpoint],
  ] as const) {
    const isSocket = endpoint === undefined || endpoint === 'none' || socketPath(endpoint).startsWith('/');
    check(isSocket, flag, `"${endpoint}" must be a Unix socket, unix:///run/containerd/containerd.sock`);
  }
  const positive: [string, number][] = [
    ['runtime-request-timeout', runtime.requestTimeoutMs],
    ['max-pods', node.maxPods],
    ['node-status-update-frequency', node.statusUpdateMs],
    ['node-status-report-frequency', node.statusReportMs],
    ['node-lease-duration-seconds', node.leaseSeconds],
  ];
  for (const [flag, value] of positive) check(value > 0, flag, 'must be more than 0');
  check(node.imagesMax >= -1, 'node-status-max-images', 'must be -1 or more');
  for (const ip of node.ips) check(isIP(ip) !== 0, 'node-ip', `"${ip}" is not an IP address`);
  const ips = node.ips.join(',');
  check(isOneOfEachFamily(node.ips), 'node-ip', `"${ips}" must be one address, or one of IPv4 and one of IPv6`);
  const hasUnspecified = node.ips.some((ip) => unspecifiedAddresses.has(ip));
  check(node.ips.length < 2 || !hasUnspecified, 'node-ip', `"${ips}": 0.0.0.0 and :: must be the only address`);
  for (const text of node.taints) {
    check(taint.test(text), 'register-with-taints', `"${text}" must be key=value:Effect with a known effect`);
  }
  const naming = namingProfile(draft.naming.profile as NamingProfileName);
  for (const problem of labelProblems(node.labels, naming)) check(false, 'node-labels', problem);
  for (const problem of reservedProblems(node.systemReserved)) check(false, 'system-reserved', problem);
  for (const problem of reservedProblems(node.kubeReserved)) check(false, 'kube-reserved', problem);
  const thresholds = parseEvictionThresholds(node.evictionHard);
  if (typeof thresholds === 'string') check(false, 'eviction-hard', thresholds);
  for (const [gate, isOn] of Object.entries(draft.featureGates)) {
    const problem = gateProblem(gate, isOn);
    if (problem !== undefined) found.push(`${sourceOf('feature-gates')}: ${problem}`);
  }
  return found;
}

function isOneOfEachFamily(ips: readonly string[]): boolean {
  const families = ips.map(isIP).filter((family) => family !== 0);
  return ips.length <= 2 && new Set(families).size === families.length;
}

const needsKubeconfig = 'needs --kubeconfig, the API server to ask';

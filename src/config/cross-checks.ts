import { admissionPluginNames, missingAdmissionPlugins } from './admission-plugins.js';
import { auditErrors } from './audit-checks.js';
import { authenticationErrors } from './authentication-checks.js';
import { authorizationErrors } from './authorization-checks.js';
import type { Extensions } from './extensions.js';
import { processCount } from './process-count.js';
import { unknownReconcilers } from './reconciler-names.js';
import type { ServerConfig, SigningConfig, SigningFiles } from './server-config.js';
import { storageBackends } from './storage-backends.js';
import { didYouMean } from './suggestion.js';

/**
 * Returns errors about combinations of settings that are valid on their own. `isSet` is true for the keys of settings
 * that are given.
 */
export function crossChecks(config: ServerConfig, extensions: Extensions, isSet: (key: string) => boolean): string[] {
  const { authentication, reconcilers } = config;
  const unknown = unknownReconcilers(reconcilers.controllers, namesOf(extensions.reconcilers));
  return [
    ...storageErrors(config, namesOf(extensions.storageBackends)),
    ...certificateErrors(config),
    ...flowErrors(config),
    ...authorizationErrors(config, isSet),
    ...authenticationErrors(config, isSet),
    ...oidcErrors(authentication),
    ...auditErrors(config),
    ...admissionErrors(config.admission, namesOf(extensions.admissionPlugins)),
    ...signingErrors(reconcilers.signing),
    ...kubeletErrors(config.kubelets),
    ...(config.faults.planFile !== undefined && !config.faults.allowed
      ? ['--fault-plan-file needs --allow-faults, which lets requests fail on purpose']
      : []),
    ...(config.faults.allowed && processCount(config) > 1
      ? ['--allow-faults: cannot be combined with --workers, whose processes would count faults apart']
      : []),
    ...logicalClusterErrors(config),
    ...unknown.map((problem) => `--controllers: ${problem}`),
  ];
}

function logicalClusterErrors(config: ServerConfig): string[] {
  if (!config.logicalClusters.enabled) return [];
  return [
    ...(processCount(config) > 1 ? ['--logical-clusters: cannot be combined with --workers'] : []),
    ...(config.storage.backend === 'etcd3'
      ? ['--logical-clusters: needs a store of this server alone, not etcd3']
      : []),
    ...(config.storage.encryption.configFile === undefined
      ? []
      : ['--logical-clusters: cannot be combined with --encryption-provider-config']),
  ];
}

function storageErrors({ storage, naming }: ServerConfig, ownBackends: readonly string[]): string[] {
  const errors: string[] = [];
  const backends = [...storageBackends, ...ownBackends];
  if (!backends.includes(storage.backend)) {
    errors.push(`--storage-backend: "${storage.backend}" must be one of ${backends.join(', ')}`);
  }
  if (storage.backend === 'etcd3' && storage.etcd.servers.length === 0) {
    errors.push(
      '--etcd-servers: must be given for the etcd3 backend (--storage-backend=embedded stores objects in a directory)',
    );
  }
  if (storage.backend !== 'etcd3' && storage.etcd.servers.length > 0) {
    errors.push(`--etcd-servers: cannot be combined with --storage-backend=${storage.backend}`);
  }
  if (storage.encryption.reloads && storage.encryption.configFile === undefined) {
    errors.push('--encryption-provider-config-automatic-reload: must be set with --encryption-provider-config');
  }
  const mediaTypes = ['application/json', naming.protobufMediaType];
  if (!mediaTypes.includes(storage.mediaType)) {
    errors.push(`--storage-media-type: must be one of ${mediaTypes.join(', ')}`);
  }
  return errors;
}

function flowErrors(config: ServerConfig): string[] {
  const { flow } = config;
  const { priorityAndFairness, requestsInFlightMax, mutatingRequestsInFlightMax } = flow;
  const count = processCount(config);
  const isTooSmall = (limit: number) => limit > 0 && limit < count;
  if (isTooSmall(requestsInFlightMax) || isTooSmall(mutatingRequestsInFlightMax)) {
    return ['--workers: must not exceed --max-requests-inflight and --max-mutating-requests-inflight, which the processes share']; // prettier-ignore
  }
  if (!priorityAndFairness || requestsInFlightMax + mutatingRequestsInFlightMax > 0) return [];
  return ['--max-requests-inflight, --max-mutating-requests-inflight: together more than zero, or give --enable-priority-and-fairness=false']; // prettier-ignore
}

function certificateErrors({ storage: { etcd }, serving, aggregation }: ServerConfig): string[] {
  const errors: string[] = [];
  if ((etcd.certFile === undefined) !== (etcd.keyFile === undefined)) {
    errors.push('--etcd-certfile, --etcd-keyfile: give both or neither');
  }
  if ((aggregation.proxyClientCertFile === undefined) !== (aggregation.proxyClientKeyFile === undefined)) {
    errors.push('--proxy-client-cert-file, --proxy-client-key-file: give both or neither');
  }
  if ((serving.tlsCertFile === undefined) !== (serving.tlsPrivateKeyFile === undefined)) {
    errors.push('--tls-cert-file, --tls-private-key-file: give both or neither');
  }
  if (serving.sniCertKeys.some((item) => item.certFile === '' || item.keyFile === '')) {
    errors.push('--tls-sni-cert-key: must be cert,key or cert,key:name,...');
  }
  return errors;
}

function oidcErrors({ oidc, configFile }: ServerConfig['authentication']): string[] {
  if (!oidc.isGiven) return [];
  const errors: string[] = [];
  if (configFile !== undefined) {
    errors.push('--authentication-config, --oidc-*: cannot be given together; name the issuer in the file, under jwt');
  }
  if (oidc.issuerUrl === undefined || oidc.clientId === undefined) {
    errors.push('--oidc-issuer-url, --oidc-client-id: must be given together if any --oidc-* flag is given');
  }
  const malformed = oidc.requiredClaims.filter((pair) => pair.indexOf('=') < 1);
  return [...errors, ...malformed.map((pair) => `--oidc-required-claim: "${pair}" must be claim=value`)];
}

function admissionErrors(admission: ServerConfig['admission'], ownPlugins: readonly string[]): string[] {
  const { enabledPlugins: enabled, disabledPlugins: disabled } = admission;
  const missing = enabled.filter((name) => missingAdmissionPlugins.includes(name) && !ownPlugins.includes(name));
  const inBoth = enabled.filter((name) => disabled.includes(name)).join(', ');
  return [
    ...pluginErrors('enable-admission-plugins', enabled, ownPlugins),
    ...missing.map(
      (name) => `--enable-admission-plugins: ${name} is not implemented by this server; remove it from the list`,
    ),
    ...pluginErrors('disable-admission-plugins', disabled, ownPlugins),
    ...(inBoth === ''
      ? []
      : [
          `--enable-admission-plugins, --disable-admission-plugins: ${inBoth} is enabled and disabled; remove it from one of them`,
        ]),
  ];
}

const ownSigners = [
  ['kube-apiserver-client', 'apiServerClient'],
  ['kubelet-client', 'kubeletClient'],
  ['kubelet-serving', 'kubeletServing'],
  ['legacy-unknown', 'legacyUnknown'],
] as const;

function signingErrors(signing: SigningConfig): string[] {
  const isSet = ({ certFile, keyFile }: SigningFiles) => certFile !== undefined || keyFile !== undefined;
  const isHalf = ({ certFile, keyFile }: SigningFiles) => (certFile === undefined) !== (keyFile === undefined);
  const configured = ownSigners.filter(([, kind]) => isSet(signing[kind]));
  const pairs = [['', signing] as const, ...ownSigners.map(([name, kind]) => [`${name}-`, signing[kind]] as const)];
  return [
    ...pairs
      .filter(([, files]) => isHalf(files))
      .map(([name]) => `--cluster-signing-${name}cert-file, --cluster-signing-${name}key-file: give both or neither`),
    ...(isSet(signing) && configured.length > 0
      ? [`--cluster-signing-cert-file, --cluster-signing-${configured[0]![0]}-cert-file: cannot be given together`]
      : []),
  ];
}

function kubeletErrors({ clientCertificate, clientKey }: ServerConfig['kubelets']): string[] {
  if ((clientCertificate === undefined) === (clientKey === undefined)) return [];
  return ['--kubelet-client-certificate, --kubelet-client-key: give both or neither'];
}

const namesOf = (definitions: Extensions['reconcilers'] = []) => definitions.map(({ name }) => name);

function pluginErrors(flag: string, names: readonly string[], ownPlugins: readonly string[]): string[] {
  const known = [...admissionPluginNames, ...ownPlugins];
  const unknown = names.filter((name) => !known.includes(name));
  return unknown.map((name) => `--${flag}: unknown admission plug-in ${name}${didYouMean(name, known)}`);
}

import { IsBoolean, IsOptional, IsString, Matches, ValidateNested } from 'class-validator';
import {
  AreAmong,
  AreOf,
  AreSwitches,
  IsChoice,
  IsDuration,
  IsIpAddress,
  IsNatural,
  IsRate,
  IsPort,
  IsTextList,
  Satisfies,
} from './constraints.js';
import { AuditConfig } from './audit-config.js';
import type { FeatureGates } from './feature-gates.js';
import { tokenReviewVersions } from './flags/authentication.js';
import { accessReviewVersions, authorizationModes } from './flags/authorization.js';
import { endpointReconcilers, leaderElections, signerKeys, type SignerKey } from './flags/cluster.js';
import { logLevels } from './flags/observability.js';
import { areAddressRanges, arePinnedOrigins, areProcesses, areServerUrls } from './checks.js';
import { Limits } from './limits.js';
import { NamingProfile } from './naming-profile.js';
import type { PortRange } from './flag-value.js';
import type { RuntimeConfig } from './runtime-config.js';
import { cipherSuiteNames, tlsVersionNames, type TlsVersionName } from './tls-names.js';
import { previousRelease } from './version.js';

// The typed configuration, loaded, validated and frozen by load-config.ts. Each property is the value of a flag, whose
// `key` names the property.

type AuthorizationMode = (typeof authorizationModes)[number];
type LogLevel = (typeof logLevels)[number];

/** A file or text that may be unset. */
type Optional = string | undefined;

class EtcdConfig {
  @Satisfies('a list of URLs like http://127.0.0.1:2379', areServerUrls) readonly servers!: readonly string[];
  @Matches(/^\/[^\s]*[^/\s]$/, { message: 'must begin with "/" and must not end with it' }) readonly prefix!: string;
  @IsOptional() @IsString() readonly caFile: Optional;
  @IsOptional() @IsString() readonly certFile: Optional;
  @IsOptional() @IsString() readonly keyFile: Optional;
  @IsDuration() readonly compactionIntervalMs!: number;
  @IsDuration('more than zero') readonly healthcheckTimeoutMs!: number;
  @IsDuration('more than zero') readonly readycheckTimeoutMs!: number;
}

class EncryptionConfig {
  /** EncryptionConfiguration file. Without one, objects are stored unencrypted. */
  @IsOptional() @IsString() readonly configFile: Optional;
  /** True if the file is read again when it changes. */
  @IsBoolean() readonly reloads!: boolean;
}

class StorageConfig {
  /** A built-in backend, or that of an embedding program. */
  @IsString() readonly backend!: string;
  @IsString({ message: 'must be a directory' }) readonly dataDirectory!: string;
  @IsString() readonly mediaType!: string;
  /** 0: never. */
  @IsDuration() readonly cacheCheckIntervalMs!: number;
  @IsDuration('more than zero') readonly initializationTimeoutMs!: number;
  @ValidateNested() readonly etcd = new EtcdConfig();
  @ValidateNested() readonly encryption = new EncryptionConfig();
}

/** A certificate for some server names. If `names` is empty, the names in the certificate apply. */
export interface SniCertKey {
  readonly certFile: string;
  readonly keyFile: string;
  readonly names: readonly string[];
}

class ServingConfig {
  @IsIpAddress() readonly bindAddress!: string;
  @IsIpAddress() readonly advertiseAddress!: string;
  @IsOptional() @IsString() readonly externalHostname: Optional;
  /** 0: any free port. */
  @IsPort() readonly securePort!: number;
  @IsString({ message: 'must be a directory' }) readonly certDirectory!: string;
  @IsOptional() @IsString() readonly tlsCertFile: Optional;
  @IsOptional() @IsString() readonly tlsPrivateKeyFile: Optional;
  readonly sniCertKeys!: readonly SniCertKey[];
  /** Copy of authentication.clientCaFile, for the TLS layer. */
  readonly clientCaFile: Optional;
  @IsChoice(tlsVersionNames) readonly tlsMinVersion!: TlsVersionName;
  @AreOf(cipherSuiteNames) readonly tlsCipherSuites!: readonly string[];
  @IsBoolean() readonly http2!: boolean;
  /** True if the web console is served at /console/. */
  @IsBoolean() readonly console!: boolean;
  @IsNatural(1) readonly http2MaxStreamsPerConnection!: number;
  @Satisfies('from 0 to 0.02', (value) => typeof value === 'number' && value >= 0 && value <= 0.02)
  readonly goawayChance!: number;
  @Satisfies('a list of regular expressions pinned by ^ or // and by $ or :', arePinnedOrigins)
  readonly corsAllowedOrigins!: readonly string[];
}

class RequestHeaderConfig {
  @IsOptional() @IsString() readonly clientCaFile: Optional;
  @IsTextList() readonly allowedNames!: readonly string[];
  @IsTextList() readonly usernameHeaders!: readonly string[];
  @IsTextList() readonly uidHeaders!: readonly string[];
  @IsTextList() readonly groupHeaders!: readonly string[];
  @IsTextList() readonly extraHeaderPrefixes!: readonly string[];
}

class ServiceAccountConfig {
  /** Accepted issuers. The first one is the issuer of new tokens. */
  @IsTextList() readonly issuers!: readonly string[];
  @IsOptional() @IsString() readonly signingKeyFile: Optional;
  @IsTextList() readonly keyFiles!: readonly string[];
  /** Unix socket of an external signer, which has the keys; `@name` for an abstract one. */
  @IsOptional() @IsString() readonly signingEndpoint: Optional;
  /** URL of the public keys in the discovery document. Default: this server. */
  @IsOptional() @IsString() readonly keysUri: Optional;
  /** True if tokens become invalid with the ServiceAccount, Secret, Pod or Node that they are bound to. */
  @IsBoolean() readonly looksUp!: boolean;
  /** 0: no bound. */
  @IsDuration() readonly tokenLifeMsMax!: number;
  /** True if tokens of Pods are valid for a year, for clients that do not reload them. */
  @IsBoolean() readonly extendsTokens!: boolean;
}

/** The issuer of --oidc-issuer-url. */
class OidcConfig {
  /** True if one of the flags --oidc-* is given. */
  @IsBoolean() readonly isGiven!: boolean;
  @IsOptional() @IsString() readonly issuerUrl: Optional;
  @IsOptional() @IsString() readonly clientId: Optional;
  @IsOptional() @IsString() readonly caFile: Optional;
  @IsString() readonly usernameClaim!: string;
  @IsOptional() @IsString() readonly usernamePrefix: Optional;
  @IsOptional() @IsString() readonly groupsClaim: Optional;
  @IsOptional() @IsString() readonly groupsPrefix: Optional;
  /** Each as `claim=value`. */
  @IsTextList() readonly requiredClaims!: readonly string[];
  @IsTextList() readonly signingAlgorithms!: readonly string[];
}

/** The webhook that reviews bearer tokens. */
class TokenWebhookConfig {
  /** Kubeconfig of the webhook. */
  @IsOptional() @IsString() readonly configFile: Optional;
  /** Version of TokenReview. */
  @IsChoice(tokenReviewVersions) readonly version!: (typeof tokenReviewVersions)[number];
  /** Time for which answers are cached; 0: not at all. */
  @IsDuration() readonly cacheTtlMs!: number;
}

class AuthenticationConfig {
  @IsBoolean() readonly anonymous!: boolean;
  /** True if `anonymous` is not the default, but configured. */
  @IsBoolean() readonly isAnonymousFlagGiven!: boolean;
  /** AuthenticationConfiguration file. */
  @IsOptional() @IsString() readonly configFile: Optional;
  @IsOptional() @IsString() readonly clientCaFile: Optional;
  @IsOptional() @IsString() readonly tokenAuthFile: Optional;
  /** Audiences of tokens for this server. Default: the issuers. */
  @IsTextList() readonly apiAudiences!: readonly string[];
  @IsBoolean() readonly bootstrapTokens!: boolean;
  @ValidateNested() readonly oidc = new OidcConfig();
  @ValidateNested() readonly tokenWebhook = new TokenWebhookConfig();
  @ValidateNested() readonly serviceAccount = new ServiceAccountConfig();
  @ValidateNested() readonly requestHeader = new RequestHeaderConfig();
}

class AuthorizationWebhookConfig {
  /** Kubeconfig of the webhook. */
  @IsOptional() @IsString() readonly configFile: Optional;
  /** Version of SubjectAccessReview. */
  @IsChoice(accessReviewVersions) readonly version!: (typeof accessReviewVersions)[number];
  /** Times for which answers are cached; 0: not at all. */
  @IsDuration() readonly authorizedTtlMs!: number;
  @IsDuration() readonly unauthorizedTtlMs!: number;
}

class AuthorizationConfig {
  /** Empty with `configFile`. */
  @AreAmong(authorizationModes) readonly modes!: readonly AuthorizationMode[];
  /** AuthorizationConfiguration file. */
  @IsOptional() @IsString() readonly configFile: Optional;
  @ValidateNested() readonly webhook = new AuthorizationWebhookConfig();
  /** ABAC policy file. */
  @IsOptional() @IsString() readonly policyFile: Optional;
  /** Adds the required rule to 403 answers. */
  @IsBoolean() readonly explainForbidden!: boolean;
}

class AdmissionConfig {
  @IsTextList() readonly enabledPlugins!: readonly string[];
  @IsTextList() readonly disabledPlugins!: readonly string[];
  @IsBoolean() readonly allowPrivileged!: boolean;
  /** AdmissionConfiguration file. */
  @IsOptional() @IsString() readonly controlConfigFile: Optional;
  @IsNatural() readonly notReadyTolerationSeconds!: number;
  @IsNatural() readonly unreachableTolerationSeconds!: number;
}

class NetworkConfig {
  @Satisfies('one CIDR like 10.0.0.0/24, or two of different IP families', areAddressRanges)
  readonly serviceClusterIpRanges!: readonly string[];
  /** Node ports of Services, both ends included. */
  readonly serviceNodePorts!: PortRange;
  /** 0: the server's own Service is a ClusterIP. */
  @IsPort() readonly serverServiceNodePort!: number;
  @IsChoice(endpointReconcilers) readonly endpointReconciler!: (typeof endpointReconcilers)[number];
}

/** Connections to kubelets. */
class KubeletsConfig {
  @IsOptional() @IsString() readonly certificateAuthority: Optional;
  @IsOptional() @IsString() readonly clientCertificate: Optional;
  @IsOptional() @IsString() readonly clientKey: Optional;
  @IsTextList() readonly preferredAddressTypes!: readonly string[];
  /** The port of kubelets whose Nodes name none. */
  @IsPort() readonly port!: number;
}

/** CA certificate and its key: both or neither. */
export class SigningFiles {
  @IsOptional() @IsString() readonly certFile: Optional;
  @IsOptional() @IsString() readonly keyFile: Optional;
}

/** CA files of the built-in signers of CertificateSigningRequests. Default: the server's own CA. */
export class SigningConfig extends SigningFiles {
  @ValidateNested() readonly apiServerClient = new SigningFiles();
  @ValidateNested() readonly kubeletClient = new SigningFiles();
  @ValidateNested() readonly kubeletServing = new SigningFiles();
  @ValidateNested() readonly legacyUnknown = new SigningFiles();
  @IsDuration('more than zero') readonly durationMsMax!: number;
}

/** Health of nodes and the eviction of their Pods. */
class NodeReconcilersConfig {
  @IsDuration('more than zero') readonly monitorPeriodMs!: number;
  @IsDuration('more than zero') readonly monitorGraceMs!: number;
  @IsDuration('more than zero') readonly startupGraceMs!: number;
  @IsRate() readonly evictionsPerSecond!: number;
  @IsRate() readonly secondaryEvictionsPerSecond!: number;
  @IsNatural() readonly largeClusterSize!: number;
  @Satisfies('from 0 to 1', (value) => typeof value === 'number' && value >= 0 && value <= 1)
  readonly unhealthyZoneShare!: number;
}

class ReconcilersConfig {
  /** Value of --controllers, evaluated by reconciler-names.ts. */
  @IsTextList() readonly controllers!: readonly string[];
  @IsChoice(leaderElections) readonly leaderElection!: (typeof leaderElections)[number];
  @IsDuration('more than zero') readonly eventTtlMs!: number;
  @IsChoice(signerKeys) readonly bootstrapSignerKey!: SignerKey;
  /** CA certificates that verify the serving certificate. Default: found by the server. */
  @IsOptional() @IsString() readonly rootCaFile: Optional;
  @ValidateNested() readonly signing = new SigningConfig();
  @ValidateNested() readonly nodes = new NodeReconcilersConfig();
  /** 0 for no limit. */
  @IsNatural() readonly terminatedPodsMax!: number;
}

class FlowConfig {
  @IsNatural() readonly requestsInFlightMax!: number;
  @IsNatural() readonly mutatingRequestsInFlightMax!: number;
  @IsBoolean() readonly priorityAndFairness!: boolean;
}

/** Requests that are forwarded to the servers of APIServices. */
class AggregationConfig {
  /** By default a certificate of a CA that only this server has. */
  @IsOptional() @IsString() readonly proxyClientCertFile: Optional;
  @IsOptional() @IsString() readonly proxyClientKeyFile: Optional;
  @IsBoolean() readonly rejectsRedirects!: boolean;
  /** False: requests are sent to cluster IPs, which a proxy on the machine of this server has to route. */
  @IsBoolean() readonly routesToEndpoints!: boolean;
}

class TracingConfig {
  /** TracingConfiguration file. */
  @IsOptional() @IsString() readonly configFile: Optional;
}

class FaultsConfig {
  @IsBoolean() readonly allowed!: boolean;
  @IsOptional() @IsString() readonly planFile: Optional;
}

class LogicalClustersConfig {
  @IsBoolean() readonly enabled!: boolean;
  @IsNatural(1) readonly awakeMax!: number;
  @IsDuration('more than zero') readonly idleTimeoutMs!: number;
}

export class LogConfig {
  @IsChoice(logLevels) readonly level!: LogLevel;
  @IsNatural() readonly verbosity!: number;
}

export class ServerConfig {
  @IsOptional() @IsString() readonly configFile: Optional;
  /** File to which an administrator's kubeconfig is written. */
  @IsOptional() @IsString() readonly kubeconfigOut: Optional;
  @ValidateNested() readonly storage = new StorageConfig();
  @ValidateNested() readonly serving = new ServingConfig();
  @ValidateNested() readonly authentication = new AuthenticationConfig();
  @ValidateNested() readonly authorization = new AuthorizationConfig();
  @ValidateNested() readonly admission = new AdmissionConfig();
  @ValidateNested() readonly audit = new AuditConfig();
  @ValidateNested() readonly network = new NetworkConfig();
  @ValidateNested() readonly kubelets = new KubeletsConfig();
  @ValidateNested() readonly reconcilers = new ReconcilersConfig();
  @ValidateNested() readonly flow = new FlowConfig();
  @ValidateNested() readonly faults = new FaultsConfig();
  @ValidateNested() readonly logicalClusters = new LogicalClustersConfig();
  @ValidateNested() readonly log = new LogConfig();
  @ValidateNested() readonly aggregation = new AggregationConfig();
  @ValidateNested() readonly tracing = new TracingConfig();
  @ValidateNested() readonly limits = new Limits();
  @ValidateNested() readonly naming = new NamingProfile();
  /** State of every known gate, in an object without prototype: compare `featureGates.WatchList === true`. */
  @AreSwitches() readonly featureGates!: FeatureGates;
  @AreSwitches() readonly runtimeConfig!: RuntimeConfig;
  @IsOptional()
  @Satisfies(`the previous release, ${previousRelease}`, (value) => value === previousRelease)
  readonly showHiddenMetricsForVersion: Optional;
  /** True if /debug/pprof/ is served, to users with access to the path. */
  @IsBoolean() readonly profiling!: boolean;
  @Satisfies('a number from 1 to 64, or auto', areProcesses) readonly workers!: string;
  @IsDuration() readonly shutdownDelayMs!: number;
  @IsBoolean() readonly shutdownSendsRetryAfter!: boolean;
  @IsDuration() readonly shutdownWatchGraceMs!: number;
  @IsDuration() readonly livezGracePeriodMs!: number;
  @IsDuration('more than zero') readonly requestTimeoutMs!: number;
  @IsNatural() readonly minRequestTimeoutSeconds!: number;
}

import {
  AreAmong,
  AreSwitches,
  IsBoolean,
  IsChoice,
  IsDuration,
  IsIpAddress,
  IsNatural,
  IsOptional,
  IsPort,
  IsString,
  IsTextList,
  Matches,
  Satisfies,
  ValidateNested,
} from './constraints.js';
import type { FeatureGates } from './feature-gates.js';
import { authorizationModes } from './flags/authorization.js';
import { endpointReconcilers, leaderElections } from './flags/cluster.js';
import { logLevels } from './flags/observability.js';
import { tlsVersions } from './flags/serving.js';
import { storageBackends } from './flags/storage.js';
import { areAddressRanges, arePinnedOrigins, areServerUrls } from './checks.js';
import { Limits } from './limits.js';
import { NamingProfile } from './naming-profile.js';
import type { PortRange } from './flag-value.js';
import type { RuntimeConfig } from './runtime-config.js';
import { previousRelease } from './version.js';

// One typed object for all that can be configured: made once by load-config.ts, validated, and frozen.
// A property is what a flag says, after defaults; `key` in flags/ names the property.

export type AuthorizationMode = (typeof authorizationModes)[number];
export type StorageBackendName = (typeof storageBackends)[number];
export type TlsVersion = (typeof tlsVersions)[number];
export type LogLevel = (typeof logLevels)[number];

/** A file or a text that may be left out. */
type Optional = string | undefined;

export class EtcdConfig {
  @Satisfies('a list of URLs like http://127.0.0.1:2379', areServerUrls) readonly servers!: readonly string[];
  @Matches(/^\/[^\s]*[^/\s]$/, { message: 'must begin with "/" and must not end with it' }) readonly prefix!: string;
  @IsOptional() @IsString() readonly caFile: Optional;
  @IsOptional() @IsString() readonly certFile: Optional;
  @IsOptional() @IsString() readonly keyFile: Optional;
  @IsDuration() readonly compactionIntervalMs!: number;
  @IsDuration('more than zero') readonly healthcheckTimeoutMs!: number;
  @IsDuration('more than zero') readonly readycheckTimeoutMs!: number;
}

export class StorageConfig {
  @IsChoice(storageBackends) readonly backend!: StorageBackendName;
  @IsString({ message: 'must be a directory' }) readonly dataDirectory!: string;
  @IsString() readonly mediaType!: string;
  /** 0: never. */
  @IsDuration() readonly cacheCheckIntervalMs!: number;
  @IsDuration('more than zero') readonly initializationTimeoutMs!: number;
  @ValidateNested() readonly etcd = new EtcdConfig();
}

/** A certificate for some server names; none listed takes those in the certificate. */
export interface SniCertKey {
  readonly certFile: string;
  readonly keyFile: string;
  readonly names: readonly string[];
}

export class ServingConfig {
  @IsIpAddress() readonly bindAddress!: string;
  @IsIpAddress() readonly advertiseAddress!: string;
  @IsOptional() @IsString() readonly externalHostname: Optional;
  /** 0: any free port. */
  @IsPort() readonly securePort!: number;
  @IsString({ message: 'must be a directory' }) readonly certDirectory!: string;
  @IsOptional() @IsString() readonly tlsCertFile: Optional;
  @IsOptional() @IsString() readonly tlsPrivateKeyFile: Optional;
  readonly sniCertKeys!: readonly SniCertKey[];
  /** The same as authentication.clientCaFile: what the TLS layer asks clients for. */
  readonly clientCaFile: Optional;
  @IsChoice(tlsVersions) readonly tlsMinVersion!: TlsVersion;
  @IsTextList() readonly tlsCipherSuites!: readonly string[];
  @IsBoolean() readonly http2!: boolean;
  @IsNatural(1) readonly http2MaxStreamsPerConnection!: number;
  @Satisfies('from 0 to 0.02', (value) => typeof value === 'number' && value >= 0 && value <= 0.02)
  readonly goawayChance!: number;
  @Satisfies('a list of regular expressions pinned by ^ or // and by $ or :', arePinnedOrigins)
  readonly corsAllowedOrigins!: readonly string[];
}

export class RequestHeaderConfig {
  @IsOptional() @IsString() readonly clientCaFile: Optional;
  @IsTextList() readonly allowedNames!: readonly string[];
  @IsTextList() readonly usernameHeaders!: readonly string[];
  @IsTextList() readonly uidHeaders!: readonly string[];
  @IsTextList() readonly groupHeaders!: readonly string[];
  @IsTextList() readonly extraHeaderPrefixes!: readonly string[];
}

export class ServiceAccountConfig {
  /** The first one issues tokens, all are accepted. */
  @IsTextList() readonly issuers!: readonly string[];
  @IsOptional() @IsString() readonly signingKeyFile: Optional;
  @IsTextList() readonly keyFiles!: readonly string[];
  /** Where others find the keys, when that is not this server. */
  @IsOptional() @IsString() readonly keysUri: Optional;
  /** Tokens end with the objects that they are bound to. */
  @IsBoolean() readonly looksUp!: boolean;
  /** 0: as long as clients ask for. */
  @IsDuration() readonly tokenLifeMsMax!: number;
  /** Tokens of pods outlive what was asked for, for clients that do not read them again. */
  @IsBoolean() readonly extendsTokens!: boolean;
}

export class AuthenticationConfig {
  @IsBoolean() readonly anonymous!: boolean;
  @IsOptional() @IsString() readonly clientCaFile: Optional;
  @IsOptional() @IsString() readonly tokenAuthFile: Optional;
  /** Whom tokens for this server are made for: the issuers, when not said. */
  @IsTextList() readonly apiAudiences!: readonly string[];
  @IsBoolean() readonly bootstrapTokens!: boolean;
  @ValidateNested() readonly serviceAccount = new ServiceAccountConfig();
  @ValidateNested() readonly requestHeader = new RequestHeaderConfig();
}

export class AuthorizationConfig {
  @AreAmong(authorizationModes) readonly modes!: readonly AuthorizationMode[];
}

export class AdmissionConfig {
  @IsTextList() readonly enabledPlugins!: readonly string[];
  @IsTextList() readonly disabledPlugins!: readonly string[];
  @IsBoolean() readonly allowPrivileged!: boolean;
  /** What plug-ins are told beyond flags. */
  @IsOptional() @IsString() readonly controlConfigFile: Optional;
  @IsNatural() readonly notReadyTolerationSeconds!: number;
  @IsNatural() readonly unreachableTolerationSeconds!: number;
}

export class NetworkConfig {
  @Satisfies('one CIDR like 10.0.0.0/24, or two of different IP families', areAddressRanges)
  readonly serviceClusterIpRanges!: readonly string[];
  /** Ports of nodes that Services may have, both ends included. */
  readonly serviceNodePorts!: PortRange;
  /** 0: the server's own Service is a ClusterIP. */
  @IsPort() readonly serverServiceNodePort!: number;
  @IsChoice(endpointReconcilers) readonly endpointReconciler!: (typeof endpointReconcilers)[number];
}

/** A certificate that signs, and its key: both or neither. */
export class SigningFiles {
  @IsOptional() @IsString() readonly certFile: Optional;
  @IsOptional() @IsString() readonly keyFile: Optional;
}

/** Files of the built-in signers of CertificateSigningRequests; without any the server's own authority signs. */
export class SigningConfig extends SigningFiles {
  @ValidateNested() readonly apiServerClient = new SigningFiles();
  @ValidateNested() readonly kubeletClient = new SigningFiles();
  @ValidateNested() readonly kubeletServing = new SigningFiles();
  @ValidateNested() readonly legacyUnknown = new SigningFiles();
  @IsDuration('more than zero') readonly durationMsMax!: number;
}

export class ReconcilersConfig {
  /** As --controllers has them; reconciler-names.ts reads them. */
  @IsTextList() readonly controllers!: readonly string[];
  @IsChoice(leaderElections) readonly leaderElection!: (typeof leaderElections)[number];
  @IsDuration('more than zero') readonly eventTtlMs!: number;
  /** Authorities that verify the serving certificate, instead of those that the server finds. */
  @IsOptional() @IsString() readonly rootCaFile: Optional;
  @ValidateNested() readonly signing = new SigningConfig();
}

export class FlowConfig {
  @IsNatural() readonly requestsInFlightMax!: number;
  @IsNatural() readonly mutatingRequestsInFlightMax!: number;
}

export class LogConfig {
  @IsChoice(logLevels) readonly level!: LogLevel;
  @IsNatural() readonly verbosity!: number;
}

export class ServerConfig {
  @IsOptional() @IsString() readonly configFile: Optional;
  /** Where an administrator's kubeconfig is written, if anywhere. */
  @IsOptional() @IsString() readonly kubeconfigOut: Optional;
  @ValidateNested() readonly storage = new StorageConfig();
  @ValidateNested() readonly serving = new ServingConfig();
  @ValidateNested() readonly authentication = new AuthenticationConfig();
  @ValidateNested() readonly authorization = new AuthorizationConfig();
  @ValidateNested() readonly admission = new AdmissionConfig();
  @ValidateNested() readonly network = new NetworkConfig();
  @ValidateNested() readonly reconcilers = new ReconcilersConfig();
  @ValidateNested() readonly flow = new FlowConfig();
  @ValidateNested() readonly log = new LogConfig();
  @ValidateNested() readonly limits = new Limits();
  @ValidateNested() readonly naming = new NamingProfile();
  /** Every known gate with its state; own properties only, so ask `featureGates.WatchList === true`. */
  @AreSwitches() readonly featureGates!: FeatureGates;
  @AreSwitches() readonly runtimeConfig!: RuntimeConfig;
  @IsOptional()
  @Satisfies(`the previous release, ${previousRelease}`, (value) => value === previousRelease)
  readonly showHiddenMetricsForVersion: Optional;
  /** /debug/ is there for whoever is allowed to see it. */
  @IsBoolean() readonly profiling!: boolean;
  @IsDuration() readonly shutdownDelayMs!: number;
  @IsBoolean() readonly shutdownSendsRetryAfter!: boolean;
  @IsDuration() readonly shutdownWatchGraceMs!: number;
  @IsDuration() readonly livezGracePeriodMs!: number;
  @IsDuration('more than zero') readonly requestTimeoutMs!: number;
  @IsNatural() readonly minRequestTimeoutSeconds!: number;
}

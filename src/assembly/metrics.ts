import { hostname } from 'node:os';
import type { UnavailableVersions } from '../aggregation/unavailable-versions.js';
import type { TokenUses } from '../auth/token-uses.js';
import type { NamingProfile } from '../config/naming-profile.js';
import type { ServerConfig } from '../config/server-config.js';
import { DeprecatedRequests } from '../endpoints/deprecated-requests.js';
import type { HealthChecks } from '../endpoints/health-checks.js';
import { ServerMetrics } from '../metrics/server-metrics.js';
import type { AuditMetrics } from '../metrics/audit-metrics.js';
import { AccessMetrics } from '../metrics/access-metrics.js';
import { aggregationFamilies } from '../metrics/aggregation-metrics.js';
import { AuthorizationWebhookMetrics } from '../metrics/authorization-webhook-metrics.js';
import { AdmissionPolicyMetrics } from '../metrics/admission-policy-metrics.js';
import { AdmissionWebhookMetrics } from '../metrics/admission-webhook-metrics.js';
import { AdmissionManifestMetrics } from '../metrics/admission-manifest-metrics.js';
import { AdmissionMetrics } from '../metrics/admission-metrics.js';
import { ConversionMetrics } from '../metrics/conversion-metrics.js';
import { featureFamilies } from '../metrics/feature-metrics.js';
import type { FlowControl } from '../flow/flow-control.js';
import { flowFamilies } from '../metrics/flow-metrics.js';
import type { JwtMetrics } from '../metrics/jwt-metrics.js';
import type { ReloadMetrics } from '../metrics/reload-metrics.js';
import { ImpersonationMetrics } from '../metrics/impersonation-metrics.js';
import { RequestMetrics } from '../metrics/request-metrics.js';
import { buildFamilies, declaredValidationFamilies, healthFamilies } from '../metrics/computed-metrics.js';
import { cacheFamilies } from '../metrics/cache-metrics.js';
import { MatchConditionMetrics } from '../metrics/match-condition-metrics.js';
import { StorageMetrics } from '../metrics/storage-metrics.js';
import type { SignerMetrics } from '../metrics/signer-metrics.js';
import { tokenFamilies } from '../metrics/token-metrics.js';
import { tracingFamilies } from '../metrics/tracing-metrics.js';
import type { SpanCounts } from '../tracing/span-exporter.js';
import { NodeMetrics } from '../metrics/node-metrics.js';
import { TokenCacheMetrics } from '../metrics/token-cache-metrics.js';
import { WatchMetrics } from '../metrics/watch-metrics.js';
import { WebhookMetrics } from '../metrics/webhook-metrics.js';
import { WorkQueueMetrics } from '../metrics/work-queue-metrics.js';
import type { Encryption } from './encryption-file.js';
import type { AuthorizationMeters } from './authorization-source.js';
import type { VersionDocument } from '../config/version-document.js';
import type { DeclaredValidation } from '../registry/write/declared-validation.js';
import type { ResourceRegistry } from '../registry/resource-registry.js';
import { leaseNameOf } from '../reconcilers/server-identity/identity-lease.js';
import type { Clock } from '../std/clock.js';

/** Metrics that components of the server update. Constructed before these components. */
export interface Meters {
  readonly requests: RequestMetrics;
  readonly access: AccessMetrics;
  readonly tokenCache: TokenCacheMetrics;
  readonly webhooks: WebhookMetrics;
  readonly authorizationWebhooks: AuthorizationWebhookMetrics;
  readonly conversions: ConversionMetrics;
  readonly admission: AdmissionMetrics;
  readonly admissionManifests: AdmissionManifestMetrics;
  readonly admissionPolicies: AdmissionPolicyMetrics;
  readonly admissionWebhooks: AdmissionWebhookMetrics;
  readonly matchConditions: MatchConditionMetrics;
  readonly storage: StorageMetrics;
  readonly watches: WatchMetrics;
  readonly workQueues: WorkQueueMetrics;
  readonly nodes: NodeMetrics;
  readonly deprecations: DeprecatedRequests;
  readonly impersonation: ImpersonationMetrics;
}

interface MeterDependencies {
  readonly registry: ResourceRegistry;
  /** `/registry/` */
  readonly root: string;
  readonly clock: Clock;
  readonly naming: NamingProfile;
  /** Metrics of webhook authorizers, which are open already; absent without authorizers. */
  readonly authorization: AuthorizationMeters | undefined;
}

export function makeMeters({ registry, root, clock, naming, authorization }: MeterDependencies): Meters {
  const matchConditions = new MatchConditionMetrics();
  return {
    requests: new RequestMetrics(registry),
    access: new AccessMetrics(clock),
    tokenCache: new TokenCacheMetrics(clock),
    webhooks: authorization?.webhooks ?? new WebhookMetrics(),
    authorizationWebhooks: authorization?.authorizationWebhooks ?? new AuthorizationWebhookMetrics(),
    conversions: new ConversionMetrics(),
    admission: new AdmissionMetrics(clock),
    admissionManifests: new AdmissionManifestMetrics(clock),
    admissionPolicies: new AdmissionPolicyMetrics(matchConditions),
    admissionWebhooks: new AdmissionWebhookMetrics(matchConditions),
    matchConditions,
    storage: new StorageMetrics(root, registry),
    watches: new WatchMetrics(registry),
    workQueues: new WorkQueueMetrics(),
    nodes: new NodeMetrics(),
    deprecations: new DeprecatedRequests(naming, registry),
    impersonation: new ImpersonationMetrics(),
  };
}

/** Sources of metrics that are computed at scrape time. */
interface Measured {
  readonly clock: Clock;
  readonly config: ServerConfig;
  readonly registry: ResourceRegistry;
  readonly version: VersionDocument;
  readonly declaredValidation: DeclaredValidation;
  readonly health: HealthChecks;
  readonly jwt: JwtMetrics | undefined;
  readonly authorizationReloads: ReloadMetrics | undefined;
  readonly encryption: Pick<Encryption, 'metrics' | 'reloads'> | undefined;
  /** Returns the address of this server; empty until it listens. */
  readonly address: () => string;
  readonly tokenUses: TokenUses;
  readonly flowControl: FlowControl | undefined;
  readonly signerMetrics?: SignerMetrics | undefined;
  readonly audit: AuditMetrics | undefined;
  /** Absent without --tracing-config-file. */
  readonly spans?: SpanCounts | undefined;
  readonly unavailableVersions: UnavailableVersions;
}

export interface MetricPages {
  readonly all: ServerMetrics;
  readonly indicators: ServerMetrics;
}

/** Returns the metrics of /metrics (all) and of /metrics/slis (indicators). */
export function metricPages(meters: Meters, measured: Measured): MetricPages {
  const { clock, config, registry, version, declaredValidation, health, tokenUses, signerMetrics } = measured;
  const { jwt, authorizationReloads, encryption } = measured;
  const serverId = () => leaseNameOf({ hostName: hostname(), address: measured.address() });
  const showsHidden = config.showHiddenMetricsForVersion !== undefined;
  const all = new ServerMetrics(clock, { withProcess: true, showsHidden });
  const indicators = new ServerMetrics(clock, { withProcess: false });
  all.addLater(() => [
    ...meters.requests.families(),
    ...meters.access.families(),
    ...meters.tokenCache.families(),
    ...meters.webhooks.families(),
    ...meters.authorizationWebhooks.families(),
    ...meters.conversions.families(),
    ...(jwt?.families(serverId) ?? []),
    ...(authorizationReloads?.families(serverId) ?? []),
    ...(encryption ? [...encryption.reloads.families(serverId), ...encryption.metrics.families(serverId)] : []),
    ...meters.admission.families(),
    ...meters.admissionManifests.families(serverId),
    ...meters.admissionPolicies.families(),
    ...meters.admissionWebhooks.families(),
    ...meters.matchConditions.families(),
    ...meters.storage.families(),
    ...cacheFamilies(registry),
    ...meters.watches.families(),
    ...meters.workQueues.families(),
    ...meters.nodes.families(),
    ...buildFamilies(version),
    ...featureFamilies(config.featureGates),
    ...declaredValidationFamilies(declaredValidation),
    ...meters.deprecations.families(),
    ...meters.impersonation.families(),
    ...flowFamilies(measured.flowControl, clock),
    ...tokenFamilies(tokenUses),
    ...(signerMetrics?.families() ?? []),
    ...(measured.audit?.families() ?? []),
    ...(measured.spans ? tracingFamilies(measured.spans) : []),
    ...aggregationFamilies(measured.unavailableVersions),
    ...healthFamilies(health),
  ]);
  indicators.addLater(() => healthFamilies(health));
  return { all, indicators };
}

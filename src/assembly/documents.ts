import type { Aggregation } from '../aggregation/aggregation.js';
import type { ServiceAccountTokens } from '../auth/service-account-tokens.js';
import type { Catalog } from '../catalog/catalog.js';
import { standardEncodings } from '../codec/encodings.js';
import type { Encoding } from '../codec/encoding.js';
import { flagSettings } from '../config/flag-settings.js';
import type { ServerConfig } from '../config/server-config.js';
import type { VersionDocument } from '../config/version-document.js';
import { consolePath } from '../console/console-files.js';
import { DiscoveryRequests } from '../endpoints/discovery-requests.js';
import type { ForwardedRequests } from '../endpoints/forwarded-requests.js';
import type { HealthChecks } from '../endpoints/health-checks.js';
import { OpenApiRequests } from '../endpoints/openapi-requests.js';
import { configurationPath, keysPath, OpenIdRequests } from '../endpoints/openid-requests.js';
import { ServerPageRequests } from '../endpoints/server-page-requests.js';
import { flagsPage, statusPage } from '../endpoints/server-pages.js';
import type { VisibleResources } from '../registry/visible-resources.js';
import type { Clock } from '../std/clock.js';

interface Dependencies {
  readonly config: ServerConfig;
  readonly visible: VisibleResources;
  readonly catalog: Catalog;
  readonly encodings: readonly Encoding[];
  readonly health: HealthChecks;
  readonly version: VersionDocument;
  readonly accountTokens: ServiceAccountTokens;
  readonly clock: Clock;
  /** `10.0.0.1:6443`; empty until the server listens. */
  readonly address: () => string;
  readonly aggregation: Aggregation;
  readonly forwarded: ForwardedRequests;
}

/** Answers about the server itself: discovery, OpenAPI, OpenID Connect Discovery, /statusz and /flagz. */
export interface DocumentComponents {
  readonly discovery: DiscoveryRequests;
  readonly openApi: OpenApiRequests;
  readonly openId: OpenIdRequests;
  readonly serverPages: ServerPageRequests;
}

export function makeDocuments(dependencies: Dependencies): DocumentComponents {
  const {
    config,
    visible: registry,
    catalog,
    encodings,
    accountTokens,
    clock,
    address,
    aggregation,
    forwarded,
  } = dependencies;
  const { versions, documents } = aggregation;
  const { naming, authentication } = config;
  const openId = new OpenIdRequests({
    tokens: accountTokens,
    keysUri: authentication.serviceAccount.keysUri,
    address,
  });
  const openApi = new OpenApiRequests({
    registry,
    encodings,
    catalog,
    apiDomain: naming.apiDomain,
    apiName: naming.serviceName,
    serverPaths: [
      ...(openId.isServed ? (['.well-known/openid-configuration', 'openid/v1/jwks'] as const) : []),
      'version',
    ],
    clock,
    remoteSwaggers: () => versions.list().flatMap((version) => documents.openApiOf(version)?.v2 ?? []),
    remoteV3: () =>
      versions.list().flatMap((version) => {
        const hash = documents.openApiOf(version)?.v3Hash;
        return hash === undefined ? [] : [{ version, hash }];
      }),
    forwarded,
  });
  return { openId, openApi, discovery: discovery(dependencies, openId), serverPages: serverPages(dependencies) };
}

function discovery(
  { config, visible: registry, encodings, health, address, aggregation, forwarded }: Dependencies,
  openId: OpenIdRequests,
): DiscoveryRequests {
  const { naming, featureGates } = config;
  return new DiscoveryRequests({
    registry,
    encodings,
    discoveryGroup: naming.group('apidiscovery'),
    serverAddress: address,
    remote: remoteDiscovery(aggregation),
    forwarded,
    otherPaths: () => [
      ...health.paths(),
      ...(openId.isServed ? [configurationPath, keysPath] : []),
      ...(featureGates['ComponentFlagz'] === true ? ['/flagz'] : []),
      ...(featureGates['ComponentStatusz'] === true ? ['/statusz'] : []),
      ...(config.serving.console ? [consolePath] : []),
      ...['/metrics', '/metrics/slis', '/openapi/v2', '/openapi/v3', '/openapi/v3/', '/version'],
    ],
  });
}

function remoteDiscovery({ versions, documents }: Aggregation) {
  return {
    generation: () => `${versions.generation} ${documents.discoveryGeneration}`,
    versions: () =>
      versions.list().map((version) => {
        const { resources, isCurrent } = documents.discoveryOf(version);
        return { ...version, remoteResources: resources, isCurrent };
      }),
  };
}

function serverPages({ config, health, version, clock }: Dependencies): ServerPageRequests {
  const { naming, featureGates } = config;
  return new ServerPageRequests({
    group: naming.group('config'),
    encodings: standardEncodings,
    pages: {
      statusz:
        featureGates['ComponentStatusz'] === true
          ? statusPage({ version, startedAtMs: clock.now(), now: () => clock.now(), paths: () => health.paths() })
          : undefined,
      flagz: featureGates['ComponentFlagz'] === true ? flagsPage(() => flagSettings(config)) : undefined,
    },
  });
}

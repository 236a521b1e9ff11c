import type { ServiceAccountTokens } from '../auth/service-account-tokens.js';
import type { Catalog } from '../catalog/catalog.js';
import { standardEncodings } from '../codec/encodings.js';
import type { Encoding } from '../codec/encoding.js';
import { flagSettings } from '../config/flag-settings.js';
import type { ServerConfig } from '../config/server-config.js';
import type { VersionDocument } from '../config/version-document.js';
import { DiscoveryRequests } from '../endpoints/discovery-requests.js';
import type { HealthChecks } from '../endpoints/health-checks.js';
import { OpenApiRequests } from '../endpoints/openapi-requests.js';
import { configurationPath, keysPath, OpenIdRequests } from '../endpoints/openid-requests.js';
import { ServerPageRequests } from '../endpoints/server-page-requests.js';
import { flagsPage, statusPage } from '../endpoints/server-pages.js';
import type { ResourceRegistry } from '../registry/resource-registry.js';
import type { Clock } from '../std/clock.js';

interface Dependencies {
  readonly config: ServerConfig;
  readonly registry: ResourceRegistry;
  readonly catalog: Catalog;
  readonly encodings: readonly Encoding[];
  readonly health: HealthChecks;
  readonly version: VersionDocument;
  readonly accountTokens: ServiceAccountTokens;
  readonly clock: Clock;
  /** `10.0.0.1:6443`; empty until the server listens. */
  readonly address: () => string;
}

/** Answers about the server itself: discovery, OpenAPI, OpenID Connect Discovery, /statusz and /flagz. */
export interface DocumentComponents {
  readonly discovery: DiscoveryRequests;
  readonly openApi: OpenApiRequests;
  readonly openId: OpenIdRequests;
  readonly serverPages: ServerPageRequests;
}

export function makeDocuments(dependencies: Dependencies): DocumentComponents {
  const { config, registry, catalog, encodings, accountTokens, clock, address } = dependencies;
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
  });
  return { openId, openApi, discovery: discovery(dependencies, openId), serverPages: serverPages(dependencies) };
}

function discovery(
  { config, registry, encodings, health, address }: Dependencies,
  openId: OpenIdRequests,
): DiscoveryRequests {
  const { naming, featureGates } = config;
  return new DiscoveryRequests({
    registry,
    encodings,
    discoveryGroup: naming.group('apidiscovery'),
    serverAddress: address,
    otherPaths: () => [
      ...health.paths(),
      ...(openId.isServed ? [configurationPath, keysPath] : []),
      ...(featureGates['ComponentFlagz'] === true ? ['/flagz'] : []),
      ...(featureGates['ComponentStatusz'] === true ? ['/statusz'] : []),
      ...['/metrics', '/metrics/slis', '/openapi/v2', '/openapi/v3', '/openapi/v3/', '/version'],
    ],
  });
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
      flagz: featureGates['ComponentFlagz'] === true ? flagsPage(flagSettings(config)) : undefined,
    },
  });
}

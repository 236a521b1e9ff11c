import { AdmissionChain } from '../admission/admission-chain.js';
import { readAdmissionConfiguration } from '../admission/configuration/admission-configuration.js';
import type { WantedRight } from '../admission/plugin-dependencies.js';
import { builtInPlugins, choosePlugins } from '../admission/plugins.js';
import { podCertificateSigning } from '../admission/plugins/certificates.plugin.js';
import { resourceClaimRights } from '../admission/plugins/resource-claim-permissions.plugin.js';
import { roleEscalation } from '../admission/plugins/role-escalation.plugin.js';
import { RegistryLedger } from '../admission/quota/registry-ledger.js';
import { RegistryReader } from '../admission/registry-reader.js';
import { authorize, forbiddenError, type AuthorizationAttributes, type Authorizer } from '../auth/authorizer.js';
import { authorizersFor } from '../auth/authorizers.list.js';
import { RbacAuthorizer } from '../auth/authorizers/rbac.authorizer.js';
import { HeldRules } from '../auth/rbac/held-rules.js';
import { RoleBook } from '../auth/rbac/role-book.js';
import type { ServerConfig } from '../config/server-config.js';
import type { ApiError } from '../machinery/api-error.js';
import type { Meters } from './metrics.js';
import type { ResourceRegistry } from '../registry/resource-registry.js';
import type { Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import type { Rng } from '../std/rng.js';

interface AccessDependencies {
  readonly config: ServerConfig;
  readonly registry: ResourceRegistry;
  readonly meters: Pick<Meters, 'access' | 'admission'>;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly logger: Logger;
}

/** Authorization and admission of requests. */
export interface AccessComponents {
  readonly authorizers: readonly Authorizer[];
  /** Returns a 403 error if no authorizer allows the request, undefined if one does. */
  readonly refusalOf: (attributes: AuthorizationAttributes) => Promise<ApiError | undefined>;
  readonly admission: AdmissionChain;
}

export function makeAccess({ config, registry, meters, clock, rng, logger }: AccessDependencies): AccessComponents {
  const { naming } = config;
  const group = naming.group('rbac.authorization');
  const held = new HeldRules(new RoleBook(registry, group), group);
  const authorizers = authorizersFor(config.authorization.modes, new RbacAuthorizer(held)).map((one) =>
    meters.access.counted(one),
  );
  const refusalOf = async (attributes: AuthorizationAttributes) => {
    const { decision, reason } = await authorize(authorizers, attributes);
    return decision === 'allow' ? undefined : forbiddenError(attributes, reason);
  };
  const refusalOfRight = (right: WantedRight) =>
    refusalOf({ namespace: '', subresource: '', ...right, isResourceRequest: true, version: '*', path: '' });
  const mayDo = async (right: WantedRight) => (await refusalOfRight(right)) === undefined;
  const objects = new RegistryReader(registry);
  const { chosen, missing } = choosePlugins(
    builtInPlugins({
      objects,
      ledger: new RegistryLedger(registry, objects),
      naming,
      clock,
      rng,
      mayDo,
      resourcesOfKind: (of) => registry.resourcesOfKind(of),
      featureGates: config.featureGates,
      allowPrivileged: config.admission.allowPrivileged,
      notReadyTolerationSeconds: config.admission.notReadyTolerationSeconds,
      unreachableTolerationSeconds: config.admission.unreachableTolerationSeconds,
      configuration: readAdmissionConfiguration(config.admission.controlConfigFile, naming),
    }),
    config.admission,
  );
  if (missing.length > 0)
    logger.warn('--enable-admission-plugins names plug-ins that this server does not implement; they do not run', {
      plugins: missing,
    });
  // Permission checks that belong to a kind run even if --disable-admission-plugins names every plug-in.
  const always = [
    roleEscalation({ group, held, may: mayDo }),
    podCertificateSigning({ naming, mayDo }),
    resourceClaimRights({
      objects,
      naming,
      checksStatus: config.featureGates['DRAResourceClaimGranularStatusAuthorization'] === true,
      refusalOf: refusalOfRight,
    }),
  ];
  return { authorizers, refusalOf, admission: new AdmissionChain([...chosen, ...always], meters.admission) };
}

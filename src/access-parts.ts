import { AdmissionChain } from './admission/admission-chain.js';
import { readAdmissionConfiguration } from './admission/configuration/admission-configuration.js';
import type { WantedRight } from './admission/plugin-parts.js';
import { builtInPlugins, choosePlugins } from './admission/plugins.js';
import { roleEscalation } from './admission/plugins/role-escalation.plugin.js';
import { RegistryLedger } from './admission/quota/registry-ledger.js';
import { RegistryReader } from './admission/registry-reader.js';
import { authorize, type Authorizer } from './auth/authorizer.js';
import { authorizersFor } from './auth/authorizers.list.js';
import { RbacAuthorizer } from './auth/authorizers/rbac.authorizer.js';
import { HeldRules } from './auth/rbac/held-rules.js';
import { RoleBook } from './auth/rbac/role-book.js';
import type { ServerConfig } from './config/server-config.js';
import type { Meters } from './metric-parts.js';
import type { ResourceRegistry } from './registry/resource-registry.js';
import type { Clock } from './std/clock.js';
import type { Logger } from './std/logger.js';
import type { Rng } from './std/rng.js';

interface GivenForAccess {
  readonly config: ServerConfig;
  readonly registry: ResourceRegistry;
  readonly meters: Pick<Meters, 'access' | 'admission'>;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly logger: Logger;
}

/** What decides whether a request may do what it wants: by who sends it, and by what it would write. */
export interface AccessParts {
  readonly authorizers: readonly Authorizer[];
  readonly admission: AdmissionChain;
}

export function makeAccess({ config, registry, meters, clock, rng, logger }: GivenForAccess): AccessParts {
  const { naming } = config;
  const group = naming.group('rbac.authorization');
  const held = new HeldRules(new RoleBook(registry, group), group);
  const authorizers = authorizersFor(config.authorization.modes, new RbacAuthorizer(held)).map((one) =>
    meters.access.counted(one),
  );
  const mayDo = async ({ namespace = '', ...right }: WantedRight) => {
    const asked = { ...right, namespace, isResourceRequest: true, version: '*', subresource: '', path: '' };
    return (await authorize(authorizers, asked)).decision === 'allow';
  };
  const objects = new RegistryReader(registry);
  const { chosen, missing } = choosePlugins(
    builtInPlugins({
      objects,
      ledger: new RegistryLedger(registry, objects),
      naming,
      clock,
      rng,
      mayDo,
      allowPrivileged: config.admission.allowPrivileged,
      notReadyTolerationSeconds: config.admission.notReadyTolerationSeconds,
      unreachableTolerationSeconds: config.admission.unreachableTolerationSeconds,
      configuration: readAdmissionConfiguration(config.admission.controlConfigFile, naming),
    }),
    config.admission,
  );
  if (missing.length > 0) logger.warn('admission plugins that this version does not have', { plugins: missing });
  const escalation = roleEscalation({ group, held, may: mayDo });
  return { authorizers, admission: new AdmissionChain([...chosen, escalation], meters.admission) };
}

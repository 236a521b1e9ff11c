import { AdmissionChain } from '../admission/admission-chain.js';
import {
  readAdmissionConfiguration,
  type AdmissionConfiguration,
} from '../admission/configuration/admission-configuration.js';
import type { AdmissionPluginDefinition } from '../admission/admission-plugin.js';
import type { Permission } from '../admission/plugin-dependencies.js';
import { makePlugins, withPlugins } from '../admission/plugins.js';
import { StaticManifests } from '../admission/manifests/static-manifests.js';
import { RegistryPolicyObjects } from '../admission/policies/registry-policy-objects.js';
import type { WebhookDependencies } from '../admission/webhooks/webhook-dependencies.js';
import type { CertificateFlaw } from '../kubeconfig-client/connection-error.js';
import { HostCredentials } from '../webhook-client/host-credentials.js';
import { ServiceAddresses } from '../webhook-client/service-addresses.js';
import { WebhookClient } from '../webhook-client/webhook-client.js';
import { RegistryLedger } from '../admission/quota/registry-ledger.js';
import { RegistryReader } from '../admission/registry-reader.js';
import { readAbacPolicies } from '../auth/abac/policy-file.js';
import {
  authorize,
  refusalWith,
  type Refusal,
  type AuthorizationAttributes,
  type Authorizer,
  type Authorizers,
} from '../auth/authorizer.js';
import { AuthorizerChain, LiveAuthorizers } from '../auth/authorizer-chain.js';
import { ConstrainedImpersonation } from '../auth/constrained-impersonation.js';
import { authorizerLists } from '../auth/authorizers.list.js';
import { AbacAuthorizer } from '../auth/authorizers/abac.authorizer.js';
import { NodeAuthorizer } from '../auth/authorizers/node.authorizer.js';
import { RbacAuthorizer } from '../auth/authorizers/rbac.authorizer.js';
import { NodeRelations } from '../auth/node/node-relations.js';
import { HeldRules } from '../auth/rbac/held-rules.js';
import { RoleBook } from '../auth/rbac/role-book.js';
import type { ServerConfig } from '../config/server-config.js';
import type { InjectCall } from '../kubeconfig-client/injected-call.js';
import { policyRuleOf } from '../machinery/policy-rule.js';
import { componentRoles } from '../reconcilers/boot/roles/component-roles.js';
import { ruleOf } from '../reconcilers/boot/roles/rule-text.js';
import type { ApiError } from '../machinery/api-error.js';
import { accessDecisions } from './access-decisions.js';
import { closeWebhooks, type AuthorizationSource } from './authorization-source.js';
import type { Meters } from './metrics.js';
import type { ResourceRegistry } from '../registry/resource-registry.js';
import type { Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import type { Rng } from '../std/rng.js';

interface AccessDependencies {
  readonly config: ServerConfig;
  readonly registry: ResourceRegistry;
  readonly meters: Pick<
    Meters,
    | 'access'
    | 'admission'
    | 'admissionManifests'
    | 'admissionPolicies'
    | 'admissionWebhooks'
    | 'impersonation'
    | 'webhooks'
  >;
  /** Absent in a server without requests: it allows nothing. */
  readonly authorization: AuthorizationSource | undefined;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly logger: Logger;
  /** Absent without --allow-faults. */
  readonly injectCall: InjectCall | undefined;
  /** Admission plug-ins of an embedding program. */
  readonly admissionPlugins: readonly AdmissionPluginDefinition[];
}

/** Authorization and admission of requests. */
export interface AccessComponents {
  readonly authorizers: Authorizers;
  /** Returns a 403 error if no authorizer allows the request, undefined if one does. */
  readonly refusalOf: (attributes: AuthorizationAttributes) => Promise<ApiError | undefined>;
  readonly admission: AdmissionChain;
  /** Manifests of admission, to load before the first request. */
  readonly manifests: StaticManifests;
  /** Undefined without the feature gate ConstrainedImpersonation. */
  readonly impersonation: ConstrainedImpersonation | undefined;
}

export function makeAccess(dependencies: AccessDependencies): AccessComponents {
  const { config, registry } = dependencies;
  const group = config.naming.group('rbac.authorization');
  const held = new HeldRules(new RoleBook(registry, group), group);
  const authorizers = makeAuthorizers(dependencies, held);
  const refusal = refusalWith(config.authorization.explainForbidden);
  const refusalOf = async (attributes: AuthorizationAttributes) => {
    const authorization = await authorize(authorizers, attributes);
    return authorization.decision === 'allow' ? undefined : refusal(attributes, authorization);
  };
  return {
    authorizers,
    refusalOf,
    ...makeAdmission(dependencies, held, authorizers, refusalOf),
    impersonation: makeImpersonation(dependencies, refusal),
  };
}

/** Replaces the chain when the configuration changes, and closes old webhooks after their last decisions. */
function makeAuthorizers(dependencies: AccessDependencies, held: HeldRules): LiveAuthorizers {
  const { config, meters, authorization } = dependencies;
  const makers = {
    RBAC: () => new RbacAuthorizer(held),
    ABAC: () => abacAuthorizer(config),
    Node: () => nodeAuthorizer(dependencies),
  };
  const listOf = authorizerLists(makers, (authorizer) => meters.access.counted(authorizer));
  let configured = authorization?.authorizers.current() ?? [];
  const live = new LiveAuthorizers(new AuthorizerChain(listOf(configured)));
  authorization?.authorizers.onChange((changed) => {
    const old = configured;
    if (changed === old) return;
    configured = changed;
    live.replace(new AuthorizerChain(listOf(changed)), () => closeWebhooks(old));
  });
  return live;
}

function makeImpersonation(
  { config: { naming, featureGates }, meters, clock }: AccessDependencies,
  refusal: Refusal,
): ConstrainedImpersonation | undefined {
  if (featureGates['ConstrainedImpersonation'] !== true) return undefined;
  return new ConstrainedImpersonation({
    authenticationGroup: naming.group('authentication'),
    labelDomain: naming.labelDomain,
    observer: meters.impersonation,
    refusal,
    clock,
  });
}

function abacAuthorizer({ authorization: { policyFile = '' }, naming }: ServerConfig): Authorizer {
  return new AbacAuthorizer(readAbacPolicies(policyFile, naming));
}

function nodeAuthorizer({ config: { naming }, registry, clock }: AccessDependencies): Authorizer {
  return new NodeAuthorizer({
    relations: new NodeRelations(registry, new RegistryReader(registry), naming),
    rules: (componentRoles['system:node']?.rules ?? []).map((text) => policyRuleOf(ruleOf(text, naming))),
    naming,
    clock,
  });
}

function makeAdmission(
  dependencies: AccessDependencies,
  heldRules: HeldRules,
  authorizers: Authorizers,
  refusalOfRequest: AccessComponents['refusalOf'],
): Pick<AccessComponents, 'admission' | 'manifests'> {
  const { config, registry, meters, clock, rng, logger, admissionPlugins } = dependencies;
  const { naming, admission } = config;
  const definitions = withPlugins(admissionPlugins);
  const unknown = admission.enabledPlugins.filter((name) => !definitions.some((plugin) => plugin.name === name));
  if (unknown.length > 0)
    logger.warn('--enable-admission-plugins names plug-ins that this server does not implement; they do not run', {
      plugins: unknown,
    });
  const objects = new RegistryReader(registry);
  const configuration = readAdmissionConfiguration(admission.controlConfigFile, naming, {
    ownPlugins: admissionPlugins.map(({ name }) => name),
    featureGates: config.featureGates,
  });
  const policyObjects = new RegistryPolicyObjects(registry);
  const manifests = new StaticManifests({
    directories: configuration.manifestDirectories,
    stored: policyObjects,
    observer: meters.admissionManifests,
    limits: config.limits,
    ...{ registry, naming, clock, logger },
  });
  const refusalOf = (permission: Permission) =>
    refusalOfRequest({
      namespace: '',
      subresource: '',
      ...permission,
      isResourceRequest: true,
      version: '*',
      path: '',
    });
  const plugins = makePlugins(
    definitions,
    {
      objects,
      ledger: new RegistryLedger(registry, objects),
      policyObjects,
      policyObserver: meters.admissionPolicies,
      manifests,
      webhooks: makeWebhooks(dependencies, objects, configuration),
      naming,
      clock,
      rng,
      mayDo: async (permission) => (await refusalOf(permission)) === undefined,
      refusalOf,
      decideAccess: accessDecisions(authorizers),
      heldRules,
      resourcesOfKind: (kind) => registry.resourcesOfKind(kind),
      featureGates: config.featureGates,
      allowPrivileged: admission.allowPrivileged,
      notReadyTolerationSeconds: admission.notReadyTolerationSeconds,
      unreachableTolerationSeconds: admission.unreachableTolerationSeconds,
      configuration,
    },
    admission,
  );
  return { admission: new AdmissionChain(plugins, meters.admission), manifests };
}

function makeWebhooks(
  { config: { naming, limits }, meters, clock, rng, logger, injectCall }: AccessDependencies,
  objects: RegistryReader,
  { webhooks: { mutating, validating } }: AdmissionConfiguration,
): WebhookDependencies {
  const services = new ServiceAddresses({ objects, naming, clock, rng });
  const credentials = {
    admit: new HostCredentials(mutating, clock),
    validating: new HostCredentials(validating, clock),
  };
  const { admissionReviewAnswerBytesMax: answerBytesMax, requestValuesMax, jsonPatchOperationsMax } = limits;
  const refusedCertificate = (flaw: CertificateFlaw) => meters.webhooks.refusedCertificate(flaw);
  return {
    clientOf: (type, address) =>
      new WebhookClient(address, {
        services,
        credentials: credentials[type],
        clock,
        answerBytesMax,
        refusedCertificate,
      }),
    observer: meters.admissionWebhooks,
    injectCall,
    logger,
    valuesMax: requestValuesMax,
    patchOperationsMax: jsonPatchOperationsMax,
  };
}

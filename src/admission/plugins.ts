import type { implementedPlugins } from '../config/admission-plugins.js';
import type { AdmissionPlugin, AdmissionPluginDefinition } from './admission-plugin.js';
import type { PluginDependencies } from './plugin-dependencies.js';
import { alwaysPullImages } from './plugins/always-pull-images.plugin.js';
import { alwaysAdmit, alwaysDeny } from './plugins/always.plugin.js';
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  clusterTrustBundleAttest,
  podCertificateSigning,
} from './plugins/certificates.plugin.js';
import { defaultIngressClass } from './plugins/default-ingress-class.plugin.js';
import { defaultStorageClass } from './plugins/default-storage-class.plugin.js';
import { defaultTolerationSeconds } from './plugins/default-toleration-seconds.plugin.js';
import { denyServiceExternalIps } from './plugins/deny-service-external-ips.plugin.js';
import { eventRateLimit } from './plugins/event-rate-limit.plugin.js';
import { extendedResourceToleration } from './plugins/extended-resource-toleration.plugin.js';
import { limitPodHardAntiAffinityTopology } from './plugins/limit-pod-hard-anti-affinity-topology.plugin.js';
import { limitRanger } from './plugins/limit-ranger.plugin.js';
import { mutatingAdmissionPolicy } from './plugins/mutating-admission-policy.plugin.js';
import { mutatingAdmissionWebhook } from './plugins/mutating-admission-webhook.plugin.js';
import { namespaceExists } from './plugins/namespace-exists.plugin.js';
import { namespaceLifecycle } from './plugins/namespace-lifecycle.plugin.js';
import { nodeRestriction } from './plugins/node-restriction.plugin.js';
import { ownerReferencesPermissionEnforcement } from './plugins/owner-references-permission-enforcement.plugin.js';
import { persistentVolumeClaimResize } from './plugins/persistent-volume-claim-resize.plugin.js';
import { podNodeSelector } from './plugins/pod-node-selector.plugin.js';
import { podResizeValidator } from './plugins/pod-resize-validator.plugin.js';
import { podSecurity } from './plugins/pod-security.plugin.js';
import { podTolerationRestriction } from './plugins/pod-toleration-restriction.plugin.js';
import { podTopologyLabels } from './plugins/pod-topology-labels.plugin.js';
import { priority } from './plugins/priority.plugin.js';
import { noPrivilegedContainers } from './plugins/privileged-containers.plugin.js';
import { policyParamPermissions } from './plugins/policy-param-permissions.plugin.js';
import { resourceClaimPermissions } from './plugins/resource-claim-permissions.plugin.js';
import { resourceQuota } from './plugins/resource-quota.plugin.js';
import { roleEscalation } from './plugins/role-escalation.plugin.js';
import { runtimeClass } from './plugins/runtime-class.plugin.js';
import { serviceAccount } from './plugins/service-account.plugin.js';
import { storageObjectInUseProtection } from './plugins/storage-object-in-use-protection.plugin.js';
import { taintNodesByCondition } from './plugins/taint-nodes-by-condition.plugin.js';
import { validatingAdmissionPolicy } from './plugins/validating-admission-policy.plugin.js';
import { validatingAdmissionWebhook } from './plugins/validating-admission-webhook.plugin.js';
import { requireNever } from '../std/assert.js';

type Table = typeof implementedPlugins;

/** A definition whose name and default are those of the table in src/config, or one that no flag names. */
export type BuiltInPlugin =
  | { [Name in keyof Table]: AdmissionPluginDefinition<Name, Table[Name]> }[keyof Table]
  | AdmissionPluginDefinition<string, 'always'>;

/** Every built-in plug-in, in the order in which they run: that of kube-apiserver. */
export const builtInPlugins = [
  alwaysAdmit,
  namespaceLifecycle,
  namespaceExists,
  limitPodHardAntiAffinityTopology,
  limitRanger,
  serviceAccount,
  nodeRestriction,
  taintNodesByCondition,
  alwaysPullImages,
  podSecurity,
  podNodeSelector,
  priority,
  defaultTolerationSeconds,
  podTolerationRestriction,
  eventRateLimit,
  extendedResourceToleration,
  defaultStorageClass,
  storageObjectInUseProtection,
  ownerReferencesPermissionEnforcement,
  persistentVolumeClaimResize,
  runtimeClass,
  certificateApproval,
  certificateSigning,
  clusterTrustBundleAttest,
  certificateSubjectRestriction,
  defaultIngressClass,
  denyServiceExternalIps,
  podTopologyLabels,
  podResizeValidator,
  noPrivilegedContainers,
  mutatingAdmissionPolicy,
  mutatingAdmissionWebhook,
  // withPlugins() adds plug-ins of embedding programs here: they see the object as the built-in plug-ins changed it.
  // Permission checks that belong to a kind, as in kube-apiserver's strategies: they see the object as it will be stored.
  roleEscalation,
  podCertificateSigning,
  resourceClaimPermissions,
  policyParamPermissions,
  validatingAdmissionPolicy,
  validatingAdmissionWebhook,
  // Quotas come last, so that they are charged only for requests that no plug-in refuses.
  resourceQuota,
  alwaysDeny,
] as const satisfies readonly BuiltInPlugin[];

// Does not compile if a plug-in of the table is not in the list: the error names it.
requireNever<Exclude<keyof Table, (typeof builtInPlugins)[number]['name']>>();

/** Returns the built-in plug-ins with those of an embedding program before the permission checks and ResourceQuota. */
export function withPlugins(own: readonly AdmissionPluginDefinition[]): readonly AdmissionPluginDefinition[] {
  const at = builtInPlugins.indexOf(roleEscalation);
  const all = [...builtInPlugins.slice(0, at), ...own, ...builtInPlugins.slice(at)];
  const twice = own.find(({ name }) => all.filter((other) => other.name === name).length > 1);
  if (twice) throw new Error(`admission plug-in ${twice.name} is defined twice; give one of the two another name`);
  return all;
}

interface PluginChoice {
  /** --enable-admission-plugins */
  readonly enabledPlugins: readonly string[];
  /** --disable-admission-plugins */
  readonly disabledPlugins: readonly string[];
}

const builtIn: ReadonlySet<AdmissionPluginDefinition> = new Set(builtInPlugins);

/** Creates the plug-ins that run, in order. */
export function makePlugins(
  definitions: readonly AdmissionPluginDefinition[],
  dependencies: PluginDependencies,
  choice: PluginChoice,
): AdmissionPlugin[] {
  return definitions
    .filter((definition) => runs(definition, choice))
    .flatMap((definition) => {
      const hooks = definition.make(dependencies);
      return hooks ? [{ ...hooks, name: definition.name, isOwn: !builtIn.has(definition) }] : [];
    });
}

function runs({ name, runs: when }: AdmissionPluginDefinition, { enabledPlugins, disabledPlugins }: PluginChoice) {
  if (when === 'always') return true;
  return (when === 'by default' || enabledPlugins.includes(name)) && !disabledPlugins.includes(name);
}

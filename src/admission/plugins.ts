import { defaultAdmissionPlugins } from '../config/admission-plugins.js';
import type { AdmissionPlugin } from './admission-plugin.js';
import type { PluginParts } from './plugin-dependencies.js';
import { alwaysPullImages } from './plugins/always-pull-images.plugin.js';
import { alwaysAdmit, alwaysDeny } from './plugins/always.plugin.js';
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  clusterTrustBundleAttest,
} from './plugins/certificates.plugin.js';
import { defaultIngressClass } from './plugins/default-ingress-class.plugin.js';
import { defaultStorageClass } from './plugins/default-storage-class.plugin.js';
import { defaultTolerationSeconds } from './plugins/default-toleration-seconds.plugin.js';
import { denyServiceExternalIps } from './plugins/deny-service-external-ips.plugin.js';
import { eventRateLimit } from './plugins/event-rate-limit.plugin.js';
import { extendedResourceToleration } from './plugins/extended-resource-toleration.plugin.js';
import { limitPodHardAntiAffinityTopology } from './plugins/limit-pod-hard-anti-affinity-topology.plugin.js';
import { limitRanger } from './plugins/limit-ranger.plugin.js';
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
import { resourceQuota } from './plugins/resource-quota.plugin.js';
import { runtimeClass } from './plugins/runtime-class.plugin.js';
import { serviceAccount } from './plugins/service-account.plugin.js';
import { storageObjectInUseProtection } from './plugins/storage-object-in-use-protection.plugin.js';
import { taintNodesByCondition } from './plugins/taint-nodes-by-condition.plugin.js';

export interface PluginChoice {
  readonly enabledPlugins: readonly string[];
  readonly disabledPlugins: readonly string[];
}

/** Every built-in plug-in, in the order they run, which is that of the reference server. */
export function builtInPlugins(parts: PluginParts): readonly AdmissionPlugin[] {
  return [
    alwaysAdmit,
    namespaceLifecycle(parts),
    namespaceExists(parts),
    limitPodHardAntiAffinityTopology(parts),
    limitRanger(parts),
    serviceAccount(parts),
    nodeRestriction(parts),
    taintNodesByCondition(parts),
    alwaysPullImages,
    podSecurity(parts),
    podNodeSelector(parts),
    priority(parts),
    defaultTolerationSeconds(parts),
    podTolerationRestriction(parts),
    eventRateLimit(parts),
    extendedResourceToleration(parts),
    defaultStorageClass(parts),
    storageObjectInUseProtection(parts),
    ownerReferencesPermissionEnforcement(parts),
    persistentVolumeClaimResize(parts),
    runtimeClass(parts),
    certificateApproval(parts),
    certificateSigning(parts),
    clusterTrustBundleAttest(parts),
    certificateSubjectRestriction(parts),
    defaultIngressClass(parts),
    denyServiceExternalIps,
    podTopologyLabels(parts),
    podResizeValidator(parts),
    ...(parts.allowPrivileged ? [] : [noPrivilegedContainers]),
    // What others decide, by policies and webhooks, has its place here: it sees what the server itself made of the object.
    // Only what nobody refuses is charged.
    resourceQuota(parts),
    alwaysDeny,
  ];
}

/** Those of the plug-ins that are on, and the names that were enabled and that nobody here answers to. */
export function choosePlugins(
  plugins: readonly AdmissionPlugin[],
  { enabledPlugins, disabledPlugins }: PluginChoice,
): { readonly chosen: readonly AdmissionPlugin[]; readonly missing: readonly string[] } {
  const byFlag = new Set([...defaultAdmissionPlugins, ...enabledPlugins]);
  const isOn = ({ name }: AdmissionPlugin) =>
    name === noPrivilegedContainers.name || (byFlag.has(name) && !disabledPlugins.includes(name));
  return {
    chosen: plugins.filter(isOn),
    missing: enabledPlugins.filter((name) => !plugins.some((plugin) => plugin.name === name)),
  };
}

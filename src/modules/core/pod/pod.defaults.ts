import type {
  Container,
  ContainerState,
  ContainerStatus,
  EphemeralContainer,
  LifecycleHandler,
  ObjectFieldSelector,
  Pod,
  PodSpec,
  PodStatus,
  Probe,
  ProjectedVolumeSource,
  ResourceFieldSelector,
  ResourceRequirements,
  Volume,
  VolumeSource,
} from '../../../catalog/types/core.v1.js';
import { isSet } from '../../../machinery/fields.js';
import type { Mutable } from '../../../machinery/mutable.js';
import { defaultClaimSpec } from '../persistent-volume-claim.defaults.js';
import { imageTag } from './image-tag.js';
import { addResources, amountOf, maxResources, normalizeResources, ResourceTotals } from './pod-resources.js';

/** Defaults a PodSpec, of a Pod or of a template. Idempotent, as all defaults: they also run on stored objects. */
export function defaultPodSpec(spec: Mutable<PodSpec>): void {
  spec.restartPolicy ||= 'Always';
  spec.dnsPolicy ||= 'ClusterFirst';
  spec.schedulerName ||= 'default-scheduler';
  spec.securityContext ??= {};
  spec.terminationGracePeriodSeconds ??= 30;
  mirrorServiceAccount(spec);
  for (const list of containerLists) for (const container of spec[list] ?? []) defaultContainer(container);
  for (const volume of spec.volumes ?? []) defaultVolume(volume);
  if (spec.resources) normalizeResources(spec.resources);
}

const containerLists = ['initContainers', 'containers', 'ephemeralContainers'] as const;

/** Defaults a Pod. Adds to the defaults of its spec those that templates do not get. */
export function defaultPod(pod: Mutable<Pod>): void {
  const spec = (pod.spec ??= {});
  defaultPodSpec(spec);
  spec.enableServiceLinks ??= true;
  for (const list of ['initContainers', 'containers'] as const) {
    for (const container of spec[list] ?? []) {
      if (container.resources) requestLimits(container.resources);
      if (spec.hostNetwork === true) defaultHostPorts(container);
    }
  }
  if (spec.resources) defaultPodRequests(spec, spec.resources);
  if (pod.status) defaultPodStatus(pod.status);
}

/** Sets serviceAccountName and its older name, serviceAccount, to the same value. */
function mirrorServiceAccount(spec: Mutable<PodSpec>): void {
  const name = spec.serviceAccountName || spec.serviceAccount;
  if (!name) return;
  spec.serviceAccountName = name;
  spec.serviceAccount = name;
}

function defaultContainer(container: Mutable<Container | EphemeralContainer>): void {
  container.resources ??= {};
  normalizeResources(container.resources);
  container.terminationMessagePath ||= '/dev/termination-log';
  container.terminationMessagePolicy ||= 'File';
  container.imagePullPolicy ||= defaultPullPolicy(container.image);
  for (const port of container.ports ?? []) port.protocol ||= 'TCP';
  for (const { valueFrom } of container.env ?? []) {
    if (!valueFrom) continue;
    defaultFieldReferences(valueFrom);
    if (valueFrom.fileKeyRef) valueFrom.fileKeyRef.optional ??= false;
  }
  for (const probe of probeFields) if (container[probe]) defaultProbe(container[probe]);
  const { postStart, preStop } = container.lifecycle ?? {};
  for (const hook of [postStart, preStop]) if (hook) defaultHandler(hook);
}

const probeFields = ['livenessProbe', 'readinessProbe', 'startupProbe'] as const;

/** The tag `latest` may move, so its image is always pulled. */
function defaultPullPolicy(image = ''): string {
  return imageTag(image) === 'latest' ? 'Always' : 'IfNotPresent';
}

function defaultProbe(probe: Mutable<Probe>): void {
  probe.timeoutSeconds ||= 1;
  probe.periodSeconds ||= 10;
  probe.successThreshold ||= 1;
  probe.failureThreshold ||= 3;
  defaultHandler(probe);
  if (probe.grpc) probe.grpc.service ??= '';
}

function defaultHandler({ httpGet }: Mutable<Pick<LifecycleHandler, 'httpGet'>>): void {
  if (!httpGet) return;
  httpGet.path ||= '/';
  httpGet.scheme ||= 'HTTP';
}

interface FieldReferences {
  fieldRef?: Mutable<ObjectFieldSelector> | undefined;
  resourceFieldRef?: Mutable<ResourceFieldSelector> | undefined;
}

/** Defaults the references of an environment variable, or of a downwardAPI file, to fields of the Pod. */
function defaultFieldReferences({ fieldRef, resourceFieldRef }: FieldReferences): void {
  if (fieldRef) fieldRef.apiVersion ||= 'v1';
  if (resourceFieldRef) resourceFieldRef.divisor ??= '0';
}

/** 0644 */
const defaultFileMode = 420;

/** Defaults the source of a volume; also of PersistentVolumes, whose sources have the same defaults. */
export function defaultVolumeSource(sources: Mutable<VolumeSource>): void {
  const { secret, configMap, downwardAPI, projected, hostPath, iscsi, image, rbd, azureDisk, scaleIO } = sources;
  if (secret) secret.defaultMode ??= defaultFileMode;
  if (configMap) configMap.defaultMode ??= defaultFileMode;
  if (downwardAPI) {
    downwardAPI.defaultMode ??= defaultFileMode;
    for (const file of downwardAPI.items ?? []) defaultFieldReferences(file);
  }
  if (projected) defaultProjectedVolume(projected);
  if (hostPath) hostPath.type ??= '';
  if (iscsi) iscsi.iscsiInterface ||= 'default';
  if (image) image.pullPolicy ||= defaultPullPolicy(image.reference);
  if (rbd) {
    rbd.pool ||= 'rbd';
    rbd.user ||= 'admin';
    rbd.keyring ||= '/etc/ceph/keyring';
  }
  if (azureDisk) {
    azureDisk.cachingMode ??= 'ReadWrite';
    azureDisk.kind ??= 'Shared';
    azureDisk.fsType ??= 'ext4';
    azureDisk.readOnly ??= false;
  }
  if (scaleIO) {
    scaleIO.storageMode ||= 'ThinProvisioned';
    scaleIO.fsType ||= 'xfs';
  }
  const template = sources.ephemeral?.volumeClaimTemplate;
  if (template) {
    template.metadata ??= {};
    defaultClaimSpec((template.spec ??= {}));
  }
}

function defaultProjectedVolume(projected: Mutable<ProjectedVolumeSource>): void {
  projected.defaultMode ??= defaultFileMode;
  for (const { serviceAccountToken, downwardAPI } of projected.sources ?? []) {
    if (serviceAccountToken) serviceAccountToken.expirationSeconds ??= 3600;
    for (const file of downwardAPI?.items ?? []) defaultFieldReferences(file);
  }
}

function defaultVolume(volume: Mutable<Volume>): void {
  const { name: _name, ...sources } = volume;
  if (Object.values(sources).some(isSet)) defaultVolumeSource(sources);
  else volume.emptyDir = {};
}

/** Sets the requests that are absent to the limits. */
function requestLimits(resources: Mutable<ResourceRequirements>): void {
  if (!resources.limits) return;
  const requests = (resources.requests ??= {});
  for (const [name, limit] of Object.entries(resources.limits)) requests[name] = amountOf(requests, name) ?? limit;
  if (Object.keys(requests).length === 0) delete resources.requests;
}

function defaultHostPorts(container: Mutable<Container>): void {
  for (const port of container.ports ?? []) if (port.containerPort) port.hostPort ||= port.containerPort;
}

/** Sets the requests of the Pod as a whole that are absent to those of its containers, or else to its own limits. */
function defaultPodRequests(spec: PodSpec, resources: Mutable<ResourceRequirements>): void {
  const { limits = {} } = resources;
  if (Object.keys(limits).length === 0 && !resources.requests) return;
  const requests = (resources.requests ??= {});
  const containerRequests = sumContainerRequests(spec);
  for (const name of new Set([...Object.keys(containerRequests), ...Object.keys(limits)])) {
    const amount = containerRequests[name] ?? limits[name];
    if (isPodLevel(name) && amount !== undefined) requests[name] ??= amount;
  }
  if (Object.keys(requests).length === 0) delete resources.requests;
}

const isPodLevel = (name: string): boolean => name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');

/**
 * Returns what a Pod requests: containers and sidecars run together; other init containers run before, one after the
 * other, each with the sidecars that started before it.
 */
function sumContainerRequests(spec: PodSpec): Record<string, string> {
  const running = new ResourceTotals();
  const sidecars = new ResourceTotals();
  // Each init container raises only the names that it requests: the sidecars alone never exceed the final sum.
  const initializing = new ResourceTotals();
  for (const { resources } of spec.containers ?? []) running.add(resources?.requests ?? {});
  for (const { resources, restartPolicy } of spec.initContainers ?? []) {
    const requests = resources?.requests ?? {};
    const isSidecar = restartPolicy === 'Always';
    if (isSidecar) sidecars.add(requests);
    for (const name of Object.keys(requests)) {
      initializing.raise(name, isSidecar ? sidecars.totals.get(name)! : sidecars.sumWith(name, requests[name]));
    }
  }
  return maxResources(addResources(running.amounts(), sidecars.amounts()), initializing.amounts());
}

function defaultPodStatus(status: Mutable<PodStatus>): void {
  mirrorPodIP(status);
  mirrorHostIP(status);
  for (const condition of status.conditions ?? []) {
    condition.lastProbeTime ??= null;
    condition.lastTransitionTime ??= null;
  }
  for (const list of ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'] as const) {
    for (const container of status[list] ?? []) defaultContainerStatus(container);
  }
}

/** Makes podIP the first of podIPs. If they differ, podIP alone is kept. */
function mirrorPodIP(status: Mutable<PodStatus>): void {
  const { podIP, podIPs: [first] = [] } = status;
  if (!podIP) {
    if (first?.ip) status.podIP = first.ip;
  } else if (first?.ip !== podIP) status.podIPs = [{ ip: podIP }];
}

/** Sets hostIPs from hostIP if there are none. Unlike podIPs, hostIPs that differ from hostIP are kept. */
function mirrorHostIP(status: Mutable<PodStatus>): void {
  if (status.hostIP && !status.hostIPs?.length) status.hostIPs = [{ ip: status.hostIP }];
}

function defaultContainerStatus(container: Mutable<ContainerStatus>): void {
  defaultContainerState((container.state ??= {}));
  defaultContainerState((container.lastState ??= {}));
}

function defaultContainerState({ running, terminated }: Mutable<ContainerState>): void {
  if (running) running.startedAt ??= null;
  if (!terminated) return;
  terminated.startedAt ??= null;
  terminated.finishedAt ??= null;
}

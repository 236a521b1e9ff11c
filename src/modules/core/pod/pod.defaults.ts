import {
  asFields,
  asItems,
  asText,
  fillIn,
  fillInZero,
  isSet,
  makeFields,
  type Fields,
} from '../../../machinery/fields.js';
import { defaultClaimSpec } from '../persistent-volume-claim.defaults.js';
import { imageTag } from './image-tag.js';
import { addResources, maxResources, normalizeResources, ResourceTotals } from './pod-resources.js';

/**
 * What a pod says when its author said nothing. Everything here is idempotent, since it is also run on pods read back.
 * `defaultPodSpec` is for pods and for the templates of workloads alike; `defaultPod` adds what only a pod itself gets.
 */
export function defaultPodSpec(spec: Fields): void {
  fillInZero(spec, 'restartPolicy', 'Always');
  fillInZero(spec, 'dnsPolicy', 'ClusterFirst');
  fillInZero(spec, 'schedulerName', 'default-scheduler');
  fillIn(spec, 'securityContext', {});
  fillIn(spec, 'terminationGracePeriodSeconds', 30);
  mirrorServiceAccount(spec);
  for (const list of containerLists) for (const container of asItems(spec[list])) defaultContainer(container);
  for (const volume of asItems(spec['volumes'])) defaultVolume(volume);
  const resources = asFields(spec['resources']);
  normalizeResources(resources);
}

export const containerLists = ['initContainers', 'containers', 'ephemeralContainers'] as const;

export function defaultPod(pod: Fields): void {
  const spec = makeFields(pod, 'spec');
  defaultPodSpec(spec);
  fillIn(spec, 'enableServiceLinks', true);
  for (const list of ['initContainers', 'containers']) {
    for (const container of asItems(spec[list])) {
      requestWhatIsLimited(asFields(container['resources']));
      if (spec['hostNetwork'] === true) portsOfTheHost(container);
    }
  }
  if (isSet(spec['resources'])) requestForThePod(spec);
  const status = asFields(pod['status']);
  defaultPodStatus(status);
}

/** The account has an old name too, and both always say the same. */
function mirrorServiceAccount(spec: Fields): void {
  const name = asText(spec['serviceAccountName']) || asText(spec['serviceAccount']);
  if (name === '') return;
  spec['serviceAccountName'] = name;
  spec['serviceAccount'] = name;
}

function defaultContainer(container: Fields): void {
  fillIn(container, 'resources', {});
  normalizeResources(asFields(container['resources']));
  fillInZero(container, 'terminationMessagePath', '/dev/termination-log');
  fillInZero(container, 'terminationMessagePolicy', 'File');
  fillInZero(container, 'imagePullPolicy', pullPolicy(asText(container['image'])));
  for (const port of asItems(container['ports'])) fillInZero(port, 'protocol', 'TCP');
  for (const variable of asItems(container['env'])) defaultSource(asFields(variable['valueFrom']));
  for (const probe of probeFields) if (isSet(container[probe])) defaultProbe(asFields(container[probe]));
  const lifecycle = asFields(container['lifecycle']);
  for (const hook of ['postStart', 'preStop']) defaultHandler(asFields(lifecycle[hook]));
}

export const probeFields = ['livenessProbe', 'readinessProbe', 'startupProbe'] as const;

/** A tag that moves is looked up every time; a fixed one only when the image is not there. */
function pullPolicy(image: string): string {
  return imageTag(image) === 'latest' ? 'Always' : 'IfNotPresent';
}

function defaultProbe(probe: Fields): void {
  fillInZero(probe, 'timeoutSeconds', 1);
  fillInZero(probe, 'periodSeconds', 10);
  fillInZero(probe, 'successThreshold', 1);
  fillInZero(probe, 'failureThreshold', 3);
  defaultHandler(probe);
  if (isSet(probe['grpc'])) fillIn(asFields(probe['grpc']), 'service', '');
}

function defaultHandler(handler: Fields): void {
  if (!isSet(handler['httpGet'])) return;
  const get = asFields(handler['httpGet']);
  fillInZero(get, 'path', '/');
  fillInZero(get, 'scheme', 'HTTP');
}

/** Where the value of a variable, or the content of a file, comes from. */
function defaultSource(source: Fields): void {
  if (isSet(source['fieldRef'])) fillInZero(asFields(source['fieldRef']), 'apiVersion', 'v1');
  if (isSet(source['resourceFieldRef'])) fillIn(asFields(source['resourceFieldRef']), 'divisor', '0');
  if (isSet(source['fileKeyRef'])) fillIn(asFields(source['fileKeyRef']), 'optional', false);
}

/** 0644 */
const readableByAll = 420;

export const volumeDefaults: Readonly<Record<string, (source: Fields) => void>> = {
  secret: (source) => fillIn(source, 'defaultMode', readableByAll),
  configMap: (source) => fillIn(source, 'defaultMode', readableByAll),
  downwardAPI(source) {
    fillIn(source, 'defaultMode', readableByAll);
    for (const item of asItems(source['items'])) defaultSource(item);
  },
  projected(source) {
    fillIn(source, 'defaultMode', readableByAll);
    for (const part of asItems(source['sources'])) {
      if (isSet(part['serviceAccountToken'])) fillIn(asFields(part['serviceAccountToken']), 'expirationSeconds', 3600);
      for (const item of asItems(asFields(part['downwardAPI'])['items'])) defaultSource(item);
    }
  },
  hostPath: (source) => fillIn(source, 'type', ''),
  iscsi: (source) => fillInZero(source, 'iscsiInterface', 'default'),
  image: (source) => fillInZero(source, 'pullPolicy', pullPolicy(asText(source['reference']))),
  rbd(source) {
    fillInZero(source, 'pool', 'rbd');
    fillInZero(source, 'user', 'admin');
    fillInZero(source, 'keyring', '/etc/ceph/keyring');
  },
  azureDisk(source) {
    fillIn(source, 'cachingMode', 'ReadWrite');
    fillIn(source, 'kind', 'Shared');
    fillIn(source, 'fsType', 'ext4');
    fillIn(source, 'readOnly', false);
  },
  scaleIO(source) {
    fillInZero(source, 'storageMode', 'ThinProvisioned');
    fillInZero(source, 'fsType', 'xfs');
  },
  ephemeral(source) {
    if (!isSet(source['volumeClaimTemplate'])) return;
    const template = asFields(source['volumeClaimTemplate']);
    fillIn(template, 'metadata', {});
    defaultClaimSpec(makeFields(template, 'spec'));
  },
};

function defaultVolume(volume: Fields): void {
  const sources = Object.keys(volume).filter((field) => field !== 'name' && isSet(volume[field]));
  if (sources.length === 0) volume['emptyDir'] = {};
  for (const source of sources) {
    if (Object.hasOwn(volumeDefaults, source)) volumeDefaults[source]!(asFields(volume[source]));
  }
}

/** A limit without a request is a request too. */
function requestWhatIsLimited(resources: Fields): void {
  if (!isSet(resources['limits'])) return;
  const requests = makeFields(resources, 'requests');
  for (const [name, limit] of Object.entries(asFields(resources['limits']))) fillIn(requests, name, limit);
  if (Object.keys(requests).length === 0) delete resources['requests'];
}

function portsOfTheHost(container: Fields): void {
  for (const port of asItems(container['ports'])) {
    if (port['containerPort']) fillInZero(port, 'hostPort', port['containerPort'] as number);
  }
}

/** Resources of the pod as a whole ask for what its containers ask for, or else for what they are limited to. */
function requestForThePod(spec: Fields): void {
  const resources = asFields(spec['resources']);
  const limits = asFields(resources['limits']);
  if (Object.keys(limits).length === 0 && !isSet(resources['requests'])) return;
  const requests = makeFields(resources, 'requests');
  const ofContainers = containersAskFor(spec);
  for (const name of new Set([...Object.keys(ofContainers), ...Object.keys(limits)])) {
    if (isPodLevel(name)) fillIn(requests, name, ofContainers[name] ?? limits[name]);
  }
  if (Object.keys(requests).length === 0) delete resources['requests'];
}

const isPodLevel = (name: string): boolean => name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');

/** All containers run together, beside the init containers that keep running; the other ones run before, one by one. */
function containersAskFor(spec: Fields): Record<string, string> {
  const requestsOf = (container: Fields) => asFields(asFields(container['resources'])['requests']);
  const together = new ResourceTotals();
  // Never less than what the sidecars ask for, so only the names of one container change at a time.
  const before = new ResourceTotals();
  const sidecars = new ResourceTotals();
  for (const container of asItems(spec['containers'])) together.add(requestsOf(container));
  for (const container of asItems(spec['initContainers'])) {
    const own = requestsOf(container);
    const isSidecar = container['restartPolicy'] === 'Always';
    if (isSidecar) sidecars.add(own);
    for (const name of Object.keys(own)) {
      before.raise(name, isSidecar ? sidecars.totals.get(name)! : sidecars.with(name, own[name]));
    }
  }
  return maxResources(addResources(together.amounts(), sidecars.amounts()), before.amounts());
}

/** The first address and the list of all addresses are one thing said twice; the single one is believed. */
function mirrorAddress(status: Fields, single: string, list: string): void {
  const address = asText(status[single]);
  const addresses = asItems(status[list]);
  if (address === '') {
    if (addresses.length > 0 && asText(addresses[0]!['ip']) !== '') status[single] = addresses[0]!['ip'];
    return;
  }
  if (addresses[0]?.['ip'] !== address) status[list] = [{ ip: address }];
}

function defaultPodStatus(status: Fields): void {
  mirrorAddress(status, 'podIP', 'podIPs');
  // Only Pods have both of its addresses believed: a list that disagrees with its first one stays as it is.
  if (asItems(status['hostIPs']).length === 0) mirrorAddress(status, 'hostIP', 'hostIPs');
  for (const condition of asItems(status['conditions'])) {
    for (const time of ['lastProbeTime', 'lastTransitionTime']) condition[time] ??= null;
  }
  for (const list of ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses']) {
    for (const container of asItems(status[list])) {
      for (const field of ['state', 'lastState']) defaultState(makeFields(container, field));
    }
  }
}

function defaultState(state: Fields): void {
  if (isSet(state['running'])) asFields(state['running'])['startedAt'] ??= null;
  if (!isSet(state['terminated'])) return;
  const terminated = asFields(state['terminated']);
  for (const time of ['startedAt', 'finishedAt']) terminated[time] ??= null;
}

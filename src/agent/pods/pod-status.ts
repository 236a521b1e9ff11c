import type { Container as PodContainer, ContainerState, ContainerStatus, Pod } from '../../catalog/types/core.v1.js';
import { containerStates, sandboxStates, type ContainerStatus as RuntimeContainerStatus } from '../cri/messages.js';
import type { RuntimePod, RuntimeStatuses } from './runtime-view.js';

/** Names of the machine that appear in Pods. */
export interface NodeFacts {
  readonly nodeName: string;
  readonly hostIp: string | undefined;
  /** Prefix of container IDs: `containerd`. */
  readonly runtimeName: string;
}

/** Returns a Pod with what the runtime knows: a Pod of the API server with its status replaced, or one without a spec. */
export function podWithStatus(pod: RuntimePod, statuses: RuntimeStatuses, facts: NodeFacts, stored?: Pod): Pod {
  const shown = stored ?? podOfRuntime(pod, facts);
  const { spec = {}, status = {} } = shown;
  const all = new Map(pod.containers.map((one) => [one.name, containerStatus(one, statuses, facts)] as const));
  const of = (containers: readonly PodContainer[] | null | undefined) =>
    (containers ?? []).flatMap(({ name = '' }) => all.get(name) ?? []);
  const network = statuses.sandboxes.get(pod.sandbox.id)?.network;
  const ips = [network?.ip, ...(network?.additionalIps.map(({ ip }) => ip) ?? [])].filter((ip) => !!ip);
  const main = of(spec.containers);
  const inits = of(spec.initContainers);
  const ephemerals = of(spec.ephemeralContainers);
  return {
    ...shown,
    status: {
      ...status,
      phase: phaseOf(main, spec.containers?.length ?? 0, pod),
      ...(facts.hostIp !== undefined && { hostIP: facts.hostIp, hostIPs: [{ ip: facts.hostIp }] }),
      ...(ips.length > 0 && { podIP: ips[0]!, podIPs: ips.map((ip) => ({ ip: ip! })) }),
      startTime: status.startTime ?? rfc3339(pod.sandbox.createdAt),
      containerStatuses: main,
      ...(inits.length > 0 && { initContainerStatuses: inits }),
      ...(ephemerals.length > 0 && { ephemeralContainerStatuses: ephemerals }),
    },
  };
}

/** Labels and annotations that runtimes keep for the agent, and that the Pod does not have. */
const ownPrefixes = ['io.kubernetes.', 'io.cri-containerd.', 'io.kubernetes.cri'];

function podOfRuntime(pod: RuntimePod, { nodeName }: NodeFacts): Pod {
  const { namespace, name, uid, sandbox, containers } = pod;
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      ...{ namespace, name, uid },
      creationTimestamp: rfc3339(sandbox.createdAt) ?? null,
      labels: withoutOwn(sandbox.labels),
      annotations: withoutOwn(sandbox.annotations),
    },
    spec: {
      nodeName,
      containers: containers.map(({ name: container, container: { image } }) => ({
        name: container,
        image: image?.userSpecifiedImage || image?.image || '',
        resources: {},
      })),
    },
    status: {},
  };
}

function withoutOwn(texts: ReadonlyMap<string, string>): Record<string, string> {
  const shown = [...texts].filter(([key]) => !ownPrefixes.some((prefix) => key.startsWith(prefix)));
  // Defines names such as __proto__ as properties, where an assignment would not.
  return Object.fromEntries(shown);
}

function containerStatus(
  { name, container, previous }: RuntimePod['containers'][number],
  { containers }: RuntimeStatuses,
  facts: NodeFacts,
): ContainerStatus {
  const status = containers.get(container.id);
  const before = previous && containers.get(previous.id);
  const isRunning = status?.state === containerStates.running;
  const { runtimeName } = facts;
  return {
    name,
    state: stateOf(status, runtimeName),
    lastState: before?.state === containerStates.exited ? stateOf(before, runtimeName) : {},
    // Probes are the task of the kubelet that runs the Pod.
    ready: isRunning,
    started: isRunning,
    restartCount: container.metadata?.attempt ?? 0,
    image: status?.image?.userSpecifiedImage || status?.image?.image || container.image?.image || '',
    imageID: status?.imageId || status?.imageRef || container.imageRef,
    containerID: `${runtimeName}://${container.id}`,
  };
}

function stateOf(status: RuntimeContainerStatus | undefined, runtimeName: string): ContainerState {
  switch (status?.state) {
    case containerStates.running:
      return { running: { startedAt: rfc3339(status.startedAt) ?? null } };
    case containerStates.exited:
      return {
        terminated: {
          exitCode: status.exitCode,
          reason: status.reason || (status.exitCode === 0 ? 'Completed' : 'Error'),
          message: status.message,
          startedAt: rfc3339(status.startedAt) ?? null,
          finishedAt: rfc3339(status.finishedAt) ?? null,
          containerID: `${runtimeName}://${status.id}`,
        },
      };
    default:
      return { waiting: { reason: status ? 'ContainerCreating' : 'ContainerStatusUnknown' } };
  }
}

function phaseOf(statuses: readonly ContainerStatus[], expected: number, { sandbox }: RuntimePod): string {
  const isEnded = statuses.length >= expected && statuses.every(({ state }) => state?.terminated != null);
  if (isEnded && statuses.length > 0 && sandbox.state === sandboxStates.notReady) {
    return statuses.every(({ state }) => state?.terminated?.exitCode === 0) ? 'Succeeded' : 'Failed';
  }
  return statuses.some(({ state }) => state?.waiting == null) ? 'Running' : 'Pending';
}

/** Returns the time of nanoseconds; undefined for 0, which is no time. */
export function rfc3339(nanoseconds: number): string | undefined {
  const ms = nanoseconds / 1e6;
  if (!(ms > 0) || ms > 253_402_300_799_000) return undefined;
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

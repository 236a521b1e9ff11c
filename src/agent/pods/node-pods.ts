import type { Pod } from '../../catalog/types/core.v1.js';
import type { KubeconfigClient } from '../../kubeconfig-client/kubeconfig-client.js';
import type { Cancellation } from '../../std/cancellation.js';
import type { Clock } from '../../std/clock.js';
import type { Logger } from '../../std/logger.js';
import type { ContainerRuntime } from '../cri/container-runtime.js';
import { AgentError } from '../server/agent-request.js';
import { podWithStatus, type NodeFacts } from './pod-status.js';
import { RuntimeView, type RuntimePod } from './runtime-view.js';

interface Options {
  readonly runtime: ContainerRuntime | undefined;
  readonly client: KubeconfigClient | undefined;
  /** Address of the machine. */
  readonly hostIp: string | undefined;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A Pod that was found by its name, as far as the API server and the runtime have it. */
interface FoundPod {
  readonly stored: Pod | undefined;
  readonly running: RuntimePod | undefined;
}

/** Time for which a list of the API server is used again: clients of /pods poll. */
const keptMs = 1_000;
const listTimeoutMs = 5_000;

/** The Pods of this node: those of its runtime, and those of the API server that are bound to it. */
export class NodePods {
  private readonly view: RuntimeView | undefined;
  private runtimeName: string | undefined;
  private stored: { readonly untilMs: number; readonly pods: Promise<readonly Pod[]> } | undefined;

  constructor(private readonly options: Options) {
    const { runtime, clock } = options;
    this.view = runtime && new RuntimeView(runtime, clock);
  }

  /** Returns all Pods, those of the API server first. `isRunningOnly`: those with a ready sandbox. */
  async list(signal: Cancellation, isRunningOnly = false): Promise<readonly Pod[]> {
    const [stored, running] = await Promise.all([this.storedPods(), this.view?.pods(signal) ?? []]);
    const statuses = (await this.view?.statuses(running, signal)) ?? { containers: new Map(), sandboxes: new Map() };
    const facts = await this.facts();
    const left = new Map(running.map((pod) => [keyOf(pod.namespace, pod.name), pod]));
    const pods: Pod[] = [];
    for (const pod of isRunningOnly ? [] : stored) {
      const key = keyOf(pod.metadata?.namespace ?? '', pod.metadata?.name ?? '');
      const own = left.get(key);
      // A Pod that was deleted and created again has another uid than its old sandbox.
      if (!own || !isSamePod(pod, own)) pods.push(pod);
      else {
        left.delete(key);
        pods.push(podWithStatus(own, statuses, facts, pod));
      }
    }
    for (const pod of left.values()) {
      if (!isRunningOnly || pod.sandbox.state === 0) pods.push(podWithStatus(pod, statuses, facts));
    }
    return pods;
  }

  /** Finds a Pod by its namespace and name, and its uid if one is given. Throws 404 if there is none. */
  async require(
    namespace: string,
    name: string,
    signal: Cancellation,
    uid?: string,
    missing = 'pod does not exist',
  ): Promise<FoundPod> {
    const [all, running] = await Promise.all([this.storedPods(), this.running(signal)]);
    const stored = all.find(
      ({ metadata = {} }) =>
        metadata.namespace === namespace && metadata.name === name && (!uid || metadata.uid === uid),
    );
    const own = running
      .filter((pod) => pod.namespace === namespace && pod.name === name && (!uid || pod.uid === uid))
      .sort((a, b) => b.sandbox.createdAt - a.sandbox.createdAt)
      .find((pod) => !stored || isSamePod(stored, pod));
    if (!stored && !own) throw new AgentError(404, missing);
    return { stored, running: own };
  }

  private async facts(): Promise<NodeFacts> {
    const { runtime, nodeName, hostIp } = this.options;
    this.runtimeName ??= (await runtime?.call('Version', {}))?.runtimeName;
    return { nodeName, hostIp, runtimeName: this.runtimeName ?? 'unknown' };
  }

  private async running(signal: Cancellation): Promise<readonly RuntimePod[]> {
    try {
      return (await this.view?.pods(signal)) ?? [];
    } catch (error) {
      throw new AgentError(500, `the container runtime cannot be asked: ${messageOf(error)}`, { cause: error });
    }
  }

  private storedPods(): Promise<readonly Pod[]> {
    const { client, clock, nodeName, logger } = this.options;
    if (!client) return Promise.resolve([]);
    const nowMs = clock.monotonicMs();
    if (this.stored && nowMs < this.stored.untilMs) return this.stored.pods;
    const query = { fieldSelector: `spec.nodeName=${nodeName}`, resourceVersion: '0' };
    const pods = client.list<Pod>('/api/v1/pods', { query, timeoutMs: listTimeoutMs }).then(
      ({ items }) => items,
      (error: unknown) => {
        logger.warn('the Pods of this node cannot be listed at the API server; those of the runtime are shown', {
          error,
        });
        return [];
      },
    );
    this.stored = { untilMs: nowMs + keptMs, pods };
    return pods;
  }
}

/** True if the Pod has a container, init container or ephemeral container of this name. */
export function hasContainer({ stored, running }: FoundPod, name: string): boolean {
  const {
    containers = [],
    initContainers = [],
    ephemeralContainers = [],
  }: NonNullable<Pod['spec']> = stored?.spec ?? {};
  const isIn = (list: readonly { readonly name?: string | undefined }[] | null) =>
    list?.some((one) => one.name === name) === true;
  if (isIn(containers) || isIn(initContainers) || isIn(ephemeralContainers)) return true;
  return running?.containers.some((one) => one.name === name) === true;
}

/** True if the Pod of the API server is that of the sandbox. A static Pod is known to the runtime by its hash. */
function isSamePod({ metadata = {} }: Pod, { uid }: RuntimePod): boolean {
  return metadata.uid === uid || metadata.annotations?.['kubernetes.io/config.hash'] === uid;
}

const keyOf = (namespace: string, name: string) => `${namespace}/${name}`;
const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

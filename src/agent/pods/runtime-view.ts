import type { Cancellation } from '../../std/cancellation.js';
import type { Clock } from '../../std/clock.js';
import { forEachConcurrent } from '../../std/for-each-concurrent.js';
import type { ContainerRuntime } from '../cri/container-runtime.js';
import type { Container, ContainerStatus, Sandbox, SandboxStatus } from '../cri/messages.js';

/** A Pod of the container runtime: its newest sandbox, and the newest container of each name. */
export interface RuntimePod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly sandbox: Sandbox;
  readonly containers: readonly RuntimeContainer[];
}

interface RuntimeContainer {
  readonly name: string;
  readonly container: Container;
  /** The attempt before; undefined if there was none, or the runtime has removed it. */
  readonly previous: Container | undefined;
}

/** States of the containers by their ID, and of sandboxes by theirs. A removed one is absent. */
export interface RuntimeStatuses {
  readonly containers: ReadonlyMap<string, ContainerStatus>;
  readonly sandboxes: ReadonlyMap<string, SandboxStatus>;
}

const concurrency = 16;

/** Reads the Pods of the container runtime. Its methods reject with a RuntimeError. */
export class RuntimeView {
  constructor(
    private readonly runtime: ContainerRuntime,
    private readonly clock: Clock,
  ) {}

  async pods(signal?: Cancellation): Promise<readonly RuntimePod[]> {
    const [{ items }, { containers }] = await Promise.all([
      this.runtime.call('ListPodSandbox', {}, { signal }),
      this.runtime.call('ListContainers', {}, { signal }),
    ]);
    const bySandbox = new Map<string, Container[]>();
    for (const container of containers) {
      const others = bySandbox.get(container.podSandboxId);
      if (others) others.push(container);
      else bySandbox.set(container.podSandboxId, [container]);
    }
    const pods = new Map<string, { newest: Sandbox; containers: Container[] }>();
    for (const sandbox of items) {
      const { namespace = '', name = '', uid = '' } = sandbox.metadata ?? {};
      const key = `${namespace}/${name}/${uid}`;
      const own = bySandbox.get(sandbox.id) ?? [];
      const pod = pods.get(key);
      if (!pod) pods.set(key, { newest: sandbox, containers: [...own] });
      else {
        if (sandbox.createdAt > pod.newest.createdAt) pod.newest = sandbox;
        pod.containers.push(...own);
      }
    }
    return [...pods.values()].map(({ newest, containers: all }) => {
      const { namespace = '', name = '', uid = '' } = newest.metadata ?? {};
      return { namespace, name, uid, sandbox: newest, containers: newestByName(all) };
    });
  }

  /** Returns the state of all containers of the Pods, and of their sandboxes. */
  async statuses(pods: readonly RuntimePod[], signal?: Cancellation): Promise<RuntimeStatuses> {
    const containers = new Map<string, ContainerStatus>();
    const sandboxes = new Map<string, SandboxStatus>();
    const all = pods.flatMap((pod) => pod.containers.flatMap(({ container, previous }) => [container, previous]));
    const { runtime, clock } = this;
    await forEachConcurrent(all, { concurrency, clock }, async (container) => {
      if (!container) return;
      const status = await this.container(container.id, signal);
      if (status) containers.set(container.id, status);
    });
    await forEachConcurrent(pods, { concurrency, clock }, async ({ sandbox: { id } }) => {
      const { status } = await runtime.call('PodSandboxStatus', { podSandboxId: id }, { signal }).catch(ifFound);
      if (status) sandboxes.set(id, status);
    });
    return { containers, sandboxes };
  }

  /** Returns undefined for a container that the runtime has removed. */
  async container(containerId: string, signal?: Cancellation): Promise<ContainerStatus | undefined> {
    const { status } = await this.runtime.call('ContainerStatus', { containerId }, { signal }).catch(ifFound);
    return status;
  }
}

/** Code of gRPC. */
const notFound = 5;

function ifFound(error: unknown): { status: undefined } {
  if ((error as { code?: unknown }).code === notFound) return { status: undefined };
  throw error;
}

function newestByName(containers: readonly Container[]): RuntimeContainer[] {
  const byName = new Map<string, Container[]>();
  for (const container of containers) {
    const name = container.metadata?.name ?? '';
    const others = byName.get(name);
    if (others) others.push(container);
    else byName.set(name, [container]);
  }
  return [...byName].map(([name, attempts]) => {
    const [container, previous] = attempts.sort((a, b) => b.createdAt - a.createdAt || attemptOf(b) - attemptOf(a));
    return { name, container: container!, previous };
  });
}

const attemptOf = ({ metadata }: Container) => metadata?.attempt ?? 0;

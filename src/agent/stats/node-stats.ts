import type { Cancellation } from '../../std/cancellation.js';
import { RuntimeError, type ContainerRuntime } from '../cri/container-runtime.js';
import type { ContainerStats, FilesystemUsage, SandboxStats } from '../cri/messages.js';
import type { Machine, MachineUsage } from './machine-usage.js';

interface Dependencies {
  readonly runtime: ContainerRuntime | undefined;
  readonly machine: Machine;
}

/** The use of one Pod, as the runtime measures it. */
export interface PodStats {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly createdAt: number;
  /** Undefined if the runtime measures containers only. */
  readonly sandbox: SandboxStats['linux'];
  readonly containers: readonly (ContainerStats & { readonly name: string; readonly startedAt: number })[];
}

export interface NodeUsage {
  readonly machine: MachineUsage;
  readonly pods: readonly PodStats[];
  readonly imageFilesystem: FilesystemUsage | undefined;
  /** True if the runtime could not be asked: the machine is shown without its Pods. */
  readonly isPartial: boolean;
}

/** Measures the machine and its Pods when they are asked for. */
export class NodeStats {
  constructor(private readonly dependencies: Dependencies) {}

  async read(signal: Cancellation): Promise<NodeUsage> {
    const { machine, runtime } = this.dependencies;
    const usage = machine.usage();
    try {
      const pods = runtime ? await this.pods(runtime, signal) : [];
      const images = runtime && (await optional(runtime.call('ImageFsInfo', {}, { signal })));
      return { machine: await usage, pods, imageFilesystem: images?.imageFilesystems[0], isPartial: false };
    } catch (error) {
      if (!(error instanceof RuntimeError)) throw error;
      return { machine: await usage, pods: [], imageFilesystem: undefined, isPartial: true };
    }
  }

  private async pods(runtime: ContainerRuntime, signal: Cancellation): Promise<PodStats[]> {
    const [{ items }, { containers: known }, { stats }, sandboxes] = await Promise.all([
      runtime.call('ListPodSandbox', {}, { signal }),
      runtime.call('ListContainers', {}, { signal }),
      runtime.call('ListContainerStats', {}, { signal }),
      // Older runtimes do not have it.
      optional(runtime.call('ListPodSandboxStats', {}, { signal })),
    ]);
    const byContainer = new Map(stats.map((one) => [one.attributes?.id ?? '', one]));
    const bySandbox = new Map(sandboxes?.stats.map((one) => [one.attributes?.id ?? '', one.linux]));
    return items
      .filter(({ state }) => state === 0)
      .map(({ id, metadata, createdAt }) => ({
        namespace: metadata?.namespace ?? '',
        name: metadata?.name ?? '',
        uid: metadata?.uid ?? '',
        createdAt,
        sandbox: bySandbox.get(id),
        containers: known.flatMap((container) => {
          const own = container.podSandboxId === id ? byContainer.get(container.id) : undefined;
          if (!own) return [];
          return [{ ...own, name: container.metadata?.name ?? '', startedAt: container.createdAt }];
        }),
      }));
  }
}

/** Returns undefined for a method that the runtime does not have. */
async function optional<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof RuntimeError && error.isUnimplemented) return undefined;
    throw error;
  }
}

import type { ContainerImage, Node, NodeAddress, NodeStatus } from '../../catalog/types/core.v1.js';
import { apiVersion } from '../../config/version.js';
import { objectTime } from '../../registry/write/system-fields.js';
import type { Clock } from '../../std/clock.js';
import type { Logger } from '../../std/logger.js';
import { FailureLog } from './failure-log.js';
import type { HostAmounts } from './host-amounts.js';
import type { HostFacts } from './host-facts.js';
import { nodeCapacity } from './node-capacity.js';
import { nodeConditions } from './node-conditions.js';
import type { NodeSettings } from './node-settings.js';
import { PressureObserver } from './pressure.js';
import type { RuntimeInformation, RuntimeStatus } from './runtime-information.js';

/** Images change rarely, and listing thousands of them is costly for the runtime. */
const imagesMs = 30_000;
/** A Node stores this number of names of an image at most. */
const imageNamesMax = 5;
/** Longer messages of a runtime are cut. */
const problemLengthMax = 1024;

interface Dependencies {
  readonly settings: NodeSettings;
  readonly runtime: RuntimeInformation;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly host: {
    readonly facts: HostFacts;
    readonly amounts: () => Promise<HostAmounts>;
    /** Rejects if this machine has no usable address. */
    readonly addresses: () => Promise<NodeAddress[]>;
  };
}

/** Measures the machine and asks the container runtime, for the status of the Node. */
export class StatusObserver {
  private readonly pressure: PressureObserver;
  private readonly addressFailures: FailureLog;
  private images: { readonly list: readonly ContainerImage[]; readonly atMs: number } | undefined;

  constructor(private readonly dependencies: Dependencies) {
    const { settings, clock, logger } = dependencies;
    this.pressure = new PressureObserver(settings.evictionHard, settings.pressureTransitionMs);
    this.addressFailures = new FailureLog(clock, logger, {
      failed: 'the addresses of the Node could not be determined; correct --node-ip or the network',
      recovered: 'the addresses of the Node are known again',
    });
  }

  /** Returns the status after an observation. Fields of `node` that this agent does not set keep their values. */
  async observe({ status = {} }: Pick<Node, 'status'>, signal: AbortSignal): Promise<NodeStatus> {
    const { settings, clock, host } = this.dependencies;
    const [amounts, addresses, runtime] = await Promise.all([host.amounts(), this.addresses(), this.runtime(signal)]);
    const { capacity, allocatable } = nodeCapacity(settings, host.facts.cpus, amounts);
    const problems = [
      ...runtime.problems,
      ...(addresses ? [] : ['the node has no address']),
      ...(amounts.memory ? [] : ['missing node capacity for resources: memory']),
      ...(amounts.storage ? [] : ['missing node capacity for resources: ephemeral-storage']),
    ];
    const conditions = nodeConditions(status.conditions ?? [], {
      pressures: this.pressure.observe(amounts, clock.monotonicMs()),
      problems: problems.map((problem) => problem.slice(0, problemLengthMax)),
      now: objectTime(clock.now()),
    });
    const images = await this.listedImages(signal);
    return {
      ...status,
      // Resources of device plug-ins and administrators are kept.
      capacity: { ...status.capacity, ...capacity },
      allocatable: { ...status.allocatable, ...allocatable },
      conditions,
      ...(addresses && { addresses }),
      daemonEndpoints: { kubeletEndpoint: { Port: settings.port } },
      nodeInfo: this.nodeInfo(runtime, status.nodeInfo),
      ...(images && { images }),
      ...(runtime.handlers && { runtimeHandlers: runtime.handlers }),
      ...(runtime.features && { features: runtime.features }),
    };
  }

  private nodeInfo(runtime: RuntimeStatus, before: NodeStatus['nodeInfo']): NonNullable<NodeStatus['nodeInfo']> {
    const { facts } = this.dependencies.host;
    const known = before?.containerRuntimeVersion;
    return {
      machineID: facts.machineId,
      systemUUID: facts.systemUuid,
      bootID: facts.bootId,
      kernelVersion: facts.kernelVersion,
      osImage: facts.osImage,
      // The last known version remains while the runtime is down.
      containerRuntimeVersion: runtime.name === '' ? known || 'Unknown' : `${runtime.name}://${runtime.version}`,
      kubeletVersion: apiVersion.gitVersion,
      operatingSystem: facts.operatingSystem,
      architecture: facts.architecture,
    };
  }

  private async runtime(signal: AbortSignal): Promise<RuntimeStatus> {
    try {
      return await this.dependencies.runtime.status(signal);
    } catch (error) {
      return { name: '', version: '', problems: [`container runtime is down: ${messageOf(error)}`] };
    }
  }

  private async addresses(): Promise<readonly NodeAddress[] | undefined> {
    try {
      const addresses = await this.dependencies.host.addresses();
      this.addressFailures.succeeded();
      return addresses;
    } catch (error) {
      this.addressFailures.failed(error);
      return undefined;
    }
  }

  /** Returns the images, listed at most every 30 s; the last known ones while the runtime is down. */
  private async listedImages(signal: AbortSignal): Promise<readonly ContainerImage[] | undefined> {
    const { runtime, clock, settings } = this.dependencies;
    const nowMs = clock.monotonicMs();
    if (!this.images || nowMs - this.images.atMs >= imagesMs) {
      try {
        const images = (await runtime.images(signal)).slice(0, settings.imagesMax);
        const list = images.map((image) => ({ ...image, names: (image.names ?? []).slice(0, imageNamesMax) }));
        this.images = { list, atMs: nowMs };
      } catch {
        // The condition Ready has the error of the runtime.
      }
    }
    return this.images?.list;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

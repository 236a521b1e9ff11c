import type { CpuUsage, FilesystemUsage, MemoryUsage, NetworkInterface } from '../cri/messages.js';
import { rfc3339 } from '../pods/pod-status.js';
import type { MachineUsage } from './machine-usage.js';
import type { NodeUsage, PodStats } from './node-stats.js';

/** Returns the Summary of /stats/summary. Values that nobody measures are absent. */
export function summaryOf({ machine, pods, imageFilesystem }: NodeUsage, nodeName: string, cpuOnly: boolean): object {
  const time = isoOf(machine.timeMs);
  const node = {
    nodeName,
    startTime: isoOf(machine.startMs),
    cpu: {
      time,
      ...(machine.nanoCores !== undefined && { usageNanoCores: machine.nanoCores }),
      usageCoreNanoSeconds: machine.cpuNanoseconds,
    },
    memory: { time, ...machine.memory },
  };
  if (cpuOnly) return { node, pods: pods.map((pod) => podSummary(pod, true)) };
  return {
    node: {
      ...node,
      swap: { time, swapAvailableBytes: machine.swap.availableBytes, swapUsageBytes: machine.swap.usageBytes },
      network: { time, ...(machine.network[0] ?? { name: '' }), interfaces: machine.network },
      fs: { time, ...filesystemOf(machine), inodesUsed: machine.filesystem.inodes - machine.filesystem.inodesFree },
      runtime: imageFilesystem && { imageFs: { ...filesystemOf(machine), ...usedOf(imageFilesystem) } },
      rlimit: { time, maxpid: machine.processes.max, curproc: machine.processes.count },
    },
    pods: pods.map((pod) => podSummary(pod, false)),
  };
}

function podSummary({ namespace, name, uid, createdAt, sandbox, containers }: PodStats, cpuOnly: boolean): object {
  const sums = {
    cpu: sandbox?.cpu ? cpuOf(sandbox.cpu) : undefined,
    memory: sandbox?.memory ? memoryOf(sandbox.memory) : undefined,
  };
  const { network, process } = sandbox ?? {};
  return {
    podRef: { name, namespace, uid },
    startTime: rfc3339(createdAt) ?? null,
    containers: containers.map((container) => ({
      name: container.name,
      startTime: rfc3339(container.startedAt) ?? null,
      ...(container.cpu && { cpu: cpuOf(container.cpu) }),
      ...(container.memory && { memory: memoryOf(container.memory) }),
      ...(!cpuOnly && container.writableLayer && { rootfs: usedOf(container.writableLayer) }),
    })),
    ...(sums.cpu && { cpu: sums.cpu }),
    ...(sums.memory && { memory: sums.memory }),
    ...(!cpuOnly &&
      network?.defaultInterface && {
        network: {
          time: rfc3339(network.timestamp) ?? null,
          ...interfaceOf(network.defaultInterface),
          interfaces: [network.defaultInterface, ...network.interfaces].map(interfaceOf),
        },
      }),
    ...(!cpuOnly && process?.processCount && { process_stats: { process_count: process.processCount.value } }),
  };
}

function cpuOf({ timestamp, usageCoreNanoSeconds, usageNanoCores }: CpuUsage): object {
  return {
    time: rfc3339(timestamp) ?? null,
    ...(usageNanoCores && { usageNanoCores: usageNanoCores.value }),
    ...(usageCoreNanoSeconds && { usageCoreNanoSeconds: usageCoreNanoSeconds.value }),
  };
}

function memoryOf(memory: MemoryUsage): object {
  const { timestamp, availableBytes, usageBytes, workingSetBytes, rssBytes, pageFaults, majorPageFaults } = memory;
  return {
    time: rfc3339(timestamp) ?? null,
    ...(availableBytes && { availableBytes: availableBytes.value }),
    ...(usageBytes && { usageBytes: usageBytes.value }),
    ...(workingSetBytes && { workingSetBytes: workingSetBytes.value }),
    ...(rssBytes && { rssBytes: rssBytes.value }),
    ...(pageFaults && { pageFaults: pageFaults.value }),
    ...(majorPageFaults && { majorPageFaults: majorPageFaults.value }),
  };
}

function usedOf({ timestamp, usedBytes, inodesUsed }: FilesystemUsage): object {
  return {
    time: rfc3339(timestamp) ?? null,
    ...(usedBytes && { usedBytes: usedBytes.value }),
    ...(inodesUsed && { inodesUsed: inodesUsed.value }),
  };
}

function filesystemOf({ filesystem }: MachineUsage): object {
  const { capacityBytes, availableBytes, usedBytes, inodes, inodesFree } = filesystem;
  return { capacityBytes, availableBytes, usedBytes, inodes, inodesFree };
}

function interfaceOf({ name, rxBytes, rxErrors, txBytes, txErrors }: NetworkInterface): object {
  return {
    name,
    ...(rxBytes && { rxBytes: rxBytes.value }),
    ...(rxErrors && { rxErrors: rxErrors.value }),
    ...(txBytes && { txBytes: txBytes.value }),
    ...(txErrors && { txErrors: txErrors.value }),
  };
}

const isoOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

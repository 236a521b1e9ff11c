import { family, label } from '../metrics/agent-metrics.js';
import type { NodeUsage, PodStats } from './node-stats.js';

type Value = readonly [labels: string, value: number, timestampMs?: number];

/** Returns the metrics of /metrics/resource, which metrics-server reads. */
export function resourceMetrics({ machine, pods, isPartial }: NodeUsage): string {
  const at = machine.timeMs;
  const each = (read: (container: PodStats['containers'][number], labels: string) => readonly Value[]) =>
    pods.flatMap((pod) => pod.containers.flatMap((one) => read(one, labelsOf(pod, one.name))));
  const eachPod = (read: (pod: NonNullable<PodStats['sandbox']>, labels: string) => readonly Value[]) =>
    pods.flatMap((pod) => (pod.sandbox ? read(pod.sandbox, labelsOf(pod)) : []));
  return textOf([
    family('node_cpu_usage_seconds_total', 'counter', 'Cumulative cpu time consumed by the node in core-seconds', [
      ['', machine.cpuNanoseconds / 1e9, at],
    ]),
    family('node_memory_working_set_bytes', 'gauge', 'Current working set of the node in bytes', [
      ['', machine.memory.workingSetBytes, at],
    ]),
    family('node_swap_usage_bytes', 'gauge', 'Current swap usage of the node in bytes.', [
      ['', machine.swap.usageBytes, at],
    ]),
    family(
      'container_cpu_usage_seconds_total',
      'counter',
      'Cumulative cpu time consumed by the container in core-seconds',
      each(({ cpu }, labels) => timed(labels, cpu?.usageCoreNanoSeconds, 1e9, cpu?.timestamp)),
    ),
    family(
      'container_memory_working_set_bytes',
      'gauge',
      'Current working set of the container in bytes',
      each(({ memory }, labels) => timed(labels, memory?.workingSetBytes, 1, memory?.timestamp)),
    ),
    family(
      'container_start_time_seconds',
      'gauge',
      'Start time of the container since unix epoch in seconds',
      each(({ startedAt }, labels) => (startedAt > 0 ? [[labels, startedAt / 1e9]] : [])),
    ),
    family(
      'pod_cpu_usage_seconds_total',
      'counter',
      'Cumulative cpu time consumed by the pod in core-seconds',
      eachPod(({ cpu }, labels) => timed(labels, cpu?.usageCoreNanoSeconds, 1e9, cpu?.timestamp)),
    ),
    family(
      'pod_memory_working_set_bytes',
      'gauge',
      'Current working set of the pod in bytes',
      eachPod(({ memory }, labels) => timed(labels, memory?.workingSetBytes, 1, memory?.timestamp)),
    ),
    family('resource_scrape_error', 'gauge', '1 if there was an error while getting container metrics, 0 otherwise', [
      ['', isPartial ? 1 : 0],
    ]),
  ]);
}

/** Returns those metrics of /metrics/cadvisor that the runtime measures. */
export function containerMetrics({ machine, pods }: NodeUsage, cores: number, memoryBytes: number): string {
  const each = (read: (container: PodStats['containers'][number], labels: string) => readonly Value[]) =>
    pods.flatMap((pod) => pod.containers.flatMap((one) => read(one, labelsOf(pod, one.name, one.attributes?.id))));
  const network = (read: (own: NetworkOf) => { readonly value: number } | undefined) =>
    pods.flatMap((pod): Value[] => {
      const { defaultInterface, timestamp } = pod.sandbox?.network ?? {};
      if (!defaultInterface) return [];
      return timed(
        `${label('interface', defaultInterface.name)},${labelsOf(pod)}`,
        read(defaultInterface),
        1,
        timestamp,
      );
    });
  return textOf([
    family('machine_cpu_cores', 'gauge', 'Number of logical CPU cores.', [['', cores]]),
    family('machine_memory_bytes', 'gauge', 'Amount of memory installed on the machine.', [['', memoryBytes]]),
    family('container_cpu_usage_seconds_total', 'counter', 'Cumulative cpu time consumed in seconds.', [
      ['id="/"', machine.cpuNanoseconds / 1e9, machine.timeMs],
      ...each(({ cpu }, labels) => timed(labels, cpu?.usageCoreNanoSeconds, 1e9, cpu?.timestamp)),
    ]),
    family('container_memory_working_set_bytes', 'gauge', 'Current working set in bytes.', [
      ['id="/"', machine.memory.workingSetBytes, machine.timeMs],
      ...each(({ memory }, labels) => timed(labels, memory?.workingSetBytes, 1, memory?.timestamp)),
    ]),
    family(
      'container_memory_usage_bytes',
      'gauge',
      'Current memory usage in bytes, including all memory regardless of when it was accessed',
      each(({ memory }, labels) => timed(labels, memory?.usageBytes, 1, memory?.timestamp)),
    ),
    family(
      'container_memory_rss',
      'gauge',
      'Size of RSS in bytes.',
      each(({ memory }, labels) => timed(labels, memory?.rssBytes, 1, memory?.timestamp)),
    ),
    family(
      'container_fs_usage_bytes',
      'gauge',
      'Number of bytes that are consumed by the container on this filesystem.',
      each(({ writableLayer: layer }, labels) => timed(labels, layer?.usedBytes, 1, layer?.timestamp)),
    ),
    family(
      'container_network_receive_bytes_total',
      'counter',
      'Cumulative count of bytes received',
      network(({ rxBytes }) => rxBytes),
    ),
    family(
      'container_network_transmit_bytes_total',
      'counter',
      'Cumulative count of bytes transmitted',
      network(({ txBytes }) => txBytes),
    ),
  ]);
}

type NetworkOf = NonNullable<NonNullable<NonNullable<PodStats['sandbox']>['network']>['defaultInterface']>;

function timed(
  labels: string,
  amount: { readonly value: number } | undefined,
  divisor: number,
  nanoseconds = 0,
): Value[] {
  return amount ? [[labels, amount.value / divisor, nanoseconds / 1e6]] : [];
}

function labelsOf({ namespace, name }: PodStats, container?: string, id?: string): string {
  return [
    ...(container === undefined ? [] : [label('container', container)]),
    ...(id === undefined ? [] : [label('id', id)]),
    label('namespace', namespace),
    label('pod', name),
  ].join(',');
}

const textOf = (families: readonly (readonly string[])[]) => `${families.flat().join('\n')}\n`;

import type {
  ContainerStateTerminated,
  ContainerStatus,
  Pod,
  PodCondition,
  PodReadinessGate,
  PodSpec,
  PodStatus,
} from '../../../catalog/types/core.v1.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../../registry/definition/table.js';
import { orNone } from '../cells.js';

const endMessages: Readonly<Record<string, string>> = {
  Succeeded: 'The pod has completed successfully.',
  Failed: 'The pod failed.',
};

export const podTable: TableDefinition<Pod> = {
  conditions({ status: { phase = '' } = {} }) {
    const message = Object.hasOwn(endMessages, phase) ? endMessages[phase] : undefined;
    return message === undefined ? [] : [{ type: 'Completed', status: 'True', reason: phase, message }];
  },
  columns: [
    nameColumn,
    { name: 'Ready', type: 'string', description: 'Number of ready containers, of all containers and sidecars.' },
    {
      name: 'Status',
      type: 'string',
      description: 'Summary of phase, conditions and container states: the phase, or a more specific reason.',
    },
    { name: 'Restarts', type: 'string', description: 'Number of container restarts, and the age of the last one.' },
    ageColumn,
    { name: 'IP', type: 'string', priority: 1, description: 'First IP address of the Pod.' },
    { name: 'Node', type: 'string', priority: 1, description: 'Node that the Pod is assigned to.' },
    {
      name: 'Nominated Node',
      type: 'string',
      priority: 1,
      description: 'Node on which the scheduler preempts other Pods to make room for the Pod.',
    },
    {
      name: 'Readiness Gates',
      type: 'string',
      priority: 1,
      description: 'Number of readiness gates whose condition is True, of all readiness gates.',
    },
  ],
  cells(pod, { nowMs }) {
    const { metadata, spec = {}, status = {} } = pod;
    const summary = summarize(pod);
    const restartedMs = Date.parse(summary.lastRestart);
    const restarts =
      summary.restarts > 0 && !Number.isNaN(restartedMs)
        ? `${summary.restarts} (${ageCell(summary.lastRestart, nowMs)} ago)`
        : String(summary.restarts);
    return [
      metadata.name ?? '',
      `${summary.ready}/${summary.total}`,
      summary.status,
      restarts,
      ageCell(metadata.creationTimestamp, nowMs),
      orNone(status.podIPs?.[0]?.ip ?? ''),
      orNone(spec.nodeName ?? ''),
      orNone(status.nominatedNodeName ?? ''),
      gatesCell(spec.readinessGates ?? [], status.conditions ?? []),
    ];
  },
};

interface Summary {
  ready: number;
  total: number;
  status: string;
  restarts: number;
  /** '' if no container was restarted. */
  lastRestart: string;
}

/**
 * Summarizes the state of a Pod in one word: its phase, unless one of these says more. In rising order of precedence:
 * reason of the status, scheduling gates, an init container that has not succeeded, a container that waits or has
 * ended, the deletion.
 */
function summarize({ metadata, spec = {}, status = {} }: Pod): Summary {
  const { phase = '', conditions = [] } = status;
  const { initContainers = [] } = spec;
  const summary: Summary = {
    ready: 0,
    total: spec.containers?.length ?? 0,
    status: status.reason || phase,
    restarts: 0,
    lastRestart: '',
  };
  if (conditions.some(({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated')) {
    summary.status = 'SchedulingGated';
  }
  const sidecars = new Set(
    initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name = '' }) => name),
  );
  summary.total += sidecars.size;

  const isInitializing = addInitContainers(summary, spec, status, sidecars);
  if (!isInitializing || isTrue(conditions, 'Initialized')) addContainers(summary, status, sidecars);

  if (metadata.deletionTimestamp) {
    if (status.reason === 'NodeLost') summary.status = 'Unknown';
    else if (phase !== 'Succeeded' && phase !== 'Failed') summary.status = 'Terminating';
  }
  return summary;
}

/** Adds the init containers, which run in sequence, up to the first one that has not succeeded. True if there is one. */
function addInitContainers(
  summary: Summary,
  { initContainers = [] }: PodSpec,
  { initContainerStatuses = [] }: PodStatus,
  sidecars: ReadonlySet<string>,
): boolean {
  for (const [index, container] of initContainerStatuses.entries()) {
    addRestarts(summary, container);
    const { name = '', started, ready, state: { waiting, terminated } = {} } = container;
    if (terminated && (terminated.exitCode ?? 0) === 0) continue;
    if (sidecars.has(name) && started === true) {
      if (ready === true) summary.ready++;
      continue;
    }
    const reason = waiting?.reason;
    if (terminated) summary.status = `Init:${terminationReason(terminated)}`;
    else if (reason && reason !== 'PodInitializing') summary.status = `Init:${reason}`;
    else summary.status = `Init:${index}/${initContainers.length}`;
    return true;
  }
  return false;
}

function addContainers(
  summary: Summary,
  { initContainerStatuses = [], containerStatuses = [], conditions = [] }: PodStatus,
  sidecars: ReadonlySet<string>,
): void {
  summary.restarts = 0;
  summary.lastRestart = '';
  for (const container of initContainerStatuses) {
    if (sidecars.has(container.name ?? '')) addRestarts(summary, container);
  }
  let isRunning = false;
  // Reversed, so that the first container with a reason determines the status.
  for (const container of [...containerStatuses].reverse()) {
    addRestarts(summary, container);
    const { waiting, running, terminated } = container.state ?? {};
    if (waiting?.reason) summary.status = waiting.reason;
    else if (terminated) summary.status = terminationReason(terminated);
    else if (container.ready === true && running) {
      isRunning = true;
      summary.ready++;
    }
  }
  if (summary.status === 'Completed' && isRunning) {
    summary.status = isTrue(conditions, 'Ready') ? 'Running' : 'NotReady';
  }
}

function addRestarts(summary: Summary, { restartCount = 0, lastState }: ContainerStatus): void {
  summary.restarts += restartCount;
  const finishedAt = lastState?.terminated?.finishedAt ?? '';
  if (finishedAt > summary.lastRestart) summary.lastRestart = finishedAt;
}

function terminationReason({ reason, signal = 0, exitCode = 0 }: ContainerStateTerminated): string {
  return reason || (signal === 0 ? `ExitCode:${exitCode}` : `Signal:${signal}`);
}

function isTrue(conditions: readonly PodCondition[], wanted: string | undefined): boolean {
  return conditions.some(({ type, status }) => type === wanted && status === 'True');
}

function gatesCell(gates: readonly PodReadinessGate[], conditions: readonly PodCondition[]): string {
  const open = gates.filter(({ conditionType }) => isTrue(conditions, conditionType)).length;
  return gates.length === 0 ? '<none>' : `${open}/${gates.length}`;
}

import { asFields, asItems, asNumber, asText, isSet, type Fields } from '../../../machinery/fields.js';
import type { KubeObject } from '../../../machinery/kube-object.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../../registry/definition/table.js';
import { orNone } from '../cells.js';

const ends: Readonly<Record<string, string>> = {
  Succeeded: 'The pod has completed successfully.',
  Failed: 'The pod failed.',
};

export const podTable: TableDefinition = {
  conditions(pod) {
    const phase = asText(asFields(pod['status'])['phase']);
    const message = Object.hasOwn(ends, phase) ? ends[phase] : undefined;
    return message === undefined ? [] : [{ type: 'Completed', status: 'True', reason: phase, message }];
  },
  columns: [
    nameColumn,
    { name: 'Ready', type: 'string', description: 'Containers that are ready, of all that should be.' },
    { name: 'Status', type: 'string', description: 'What the pod is doing, as its phase and its containers tell.' },
    { name: 'Restarts', type: 'string', description: 'How often its containers were started again, and when last.' },
    ageColumn,
    { name: 'IP', type: 'string', priority: 1, description: 'The first address of the pod.' },
    { name: 'Node', type: 'string', priority: 1, description: 'The node it is assigned to.' },
    {
      name: 'Nominated Node',
      type: 'string',
      priority: 1,
      description: 'The node on which room is being made for it.',
    },
    {
      name: 'Readiness Gates',
      type: 'string',
      priority: 1,
      description: 'Conditions set from outside that hold, of all that it waits for.',
    },
  ],
  cells(pod, { nowMs }) {
    const spec = asFields(pod['spec']);
    const status = asFields(pod['status']);
    const summary = summarize(pod);
    const since = Date.parse(summary.lastRestart);
    const restarts =
      summary.restarts > 0 && !Number.isNaN(since)
        ? `${summary.restarts} (${ageCell(summary.lastRestart, nowMs)} ago)`
        : String(summary.restarts);
    return [
      pod.metadata.name ?? '',
      `${summary.ready}/${summary.total}`,
      summary.status,
      restarts,
      ageCell(pod.metadata.creationTimestamp, nowMs),
      orNone(asText(asItems(status['podIPs'])[0]?.['ip'])),
      orNone(asText(spec['nodeName'])),
      orNone(asText(status['nominatedNodeName'])),
      gates(asItems(spec['readinessGates']), asItems(status['conditions'])),
    ];
  },
};

interface Summary {
  ready: number;
  total: number;
  status: string;
  restarts: number;
  /** '' when nothing was restarted. */
  lastRestart: string;
}

/**
 * One word for the state of a pod: the phase, unless something more telling is going on. In rising order of what wins:
 * reason of the status, scheduling gates, an init container that is not through, a container that waits or ended,
 * the deletion.
 */
function summarize(pod: KubeObject): Summary {
  const spec = asFields(pod['spec']);
  const status = asFields(pod['status']);
  const phase = asText(status['phase']);
  const conditions = asItems(status['conditions']);
  const summary: Summary = {
    ready: 0,
    total: asItems(spec['containers']).length,
    status: asText(status['reason']) || phase,
    restarts: 0,
    lastRestart: '',
  };
  if (conditions.some((it) => it['type'] === 'PodScheduled' && it['reason'] === 'SchedulingGated')) {
    summary.status = 'SchedulingGated';
  }
  const sidecars = new Set(
    asItems(spec['initContainers']).flatMap((it) => (it['restartPolicy'] === 'Always' ? [asText(it['name'])] : [])),
  );
  summary.total += sidecars.size;

  const initializing = countInit(summary, spec, status, sidecars);
  if (!initializing || holds(conditions, 'Initialized')) countContainers(summary, status, sidecars, conditions);

  if (pod.metadata.deletionTimestamp) {
    if (status['reason'] === 'NodeLost') summary.status = 'Unknown';
    else if (phase !== 'Succeeded' && phase !== 'Failed') summary.status = 'Terminating';
  }
  return summary;
}

/** Init containers run one after the other: the first one that is not through says what the pod is doing. */
function countInit(summary: Summary, spec: Fields, status: Fields, sidecars: ReadonlySet<string>): boolean {
  for (const [index, container] of asItems(status['initContainerStatuses']).entries()) {
    countRestarts(summary, container);
    const { waiting, terminated } = stateOf(container);
    if (terminated && asNumber(terminated['exitCode']) === 0) continue;
    if (sidecars.has(asText(container['name'])) && container['started'] === true) {
      if (container['ready'] === true) summary.ready++;
      continue;
    }
    const waits = asText(waiting?.['reason']);
    if (terminated) summary.status = `Init:${ended(terminated)}`;
    else if (waits !== '' && waits !== 'PodInitializing') summary.status = `Init:${waits}`;
    else summary.status = `Init:${index}/${asItems(spec['initContainers']).length}`;
    return true;
  }
  return false;
}

function countContainers(summary: Summary, status: Fields, sidecars: ReadonlySet<string>, conditions: Fields[]): void {
  summary.restarts = 0;
  summary.lastRestart = '';
  for (const container of asItems(status['initContainerStatuses'])) {
    if (sidecars.has(asText(container['name']))) countRestarts(summary, container);
  }
  let isRunning = false;
  // From the last to the first, so that the first container that has something to say is heard.
  for (const container of asItems(status['containerStatuses']).reverse()) {
    countRestarts(summary, container);
    const { waiting, running, terminated } = stateOf(container);
    const waits = asText(waiting?.['reason']);
    if (waits !== '') summary.status = waits;
    else if (terminated) summary.status = ended(terminated);
    else if (container['ready'] === true && running) {
      isRunning = true;
      summary.ready++;
    }
  }
  if (summary.status === 'Completed' && isRunning) summary.status = holds(conditions, 'Ready') ? 'Running' : 'NotReady';
}

function countRestarts(summary: Summary, container: Fields): void {
  summary.restarts += asNumber(container['restartCount']);
  const finished = asText(asFields(asFields(container['lastState'])['terminated'])['finishedAt']);
  if (finished > summary.lastRestart) summary.lastRestart = finished;
}

function stateOf(container: Fields): Record<'waiting' | 'running' | 'terminated', Fields | undefined> {
  const state = asFields(container['state']);
  const part = (name: string) => (isSet(state[name]) ? asFields(state[name]) : undefined);
  return { waiting: part('waiting'), running: part('running'), terminated: part('terminated') };
}

function ended(terminated: Fields): string {
  const signal = asNumber(terminated['signal']);
  return (
    asText(terminated['reason']) || (signal === 0 ? `ExitCode:${asNumber(terminated['exitCode'])}` : `Signal:${signal}`)
  );
}

function holds(conditions: Fields[], type: unknown): boolean {
  return conditions.some((condition) => condition['type'] === type && condition['status'] === 'True');
}

function gates(readinessGates: Fields[], conditions: Fields[]): string {
  const open = readinessGates.filter((gate) => holds(conditions, gate['conditionType'])).length;
  return readinessGates.length === 0 ? '<none>' : `${open}/${readinessGates.length}`;
}

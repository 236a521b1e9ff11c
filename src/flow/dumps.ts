import type { FlowControl } from './flow-control.js';
import type { FlowRequest } from './flow-request.js';
import type { PriorityLevel } from './priority-level.js';

type Row = readonly (string | number | boolean)[];

/** Returns a row for each priority level, by name. */
export function dumpPriorityLevels({ levels }: FlowControl): string {
  const header = [
    ...['PriorityLevelName', 'ActiveQueues', 'IsIdle', 'IsQuiescing', 'WaitingRequests', 'ExecutingRequests'],
    ...['DispatchedRequests', 'RejectedRequests', 'TimedoutRequests', 'CancelledRequests'],
  ];
  const rows = byName(levels).map(({ name, queues: set }): Row => {
    const active = set.queues.filter(({ waiting }) => waiting.length > 0).length;
    const { isIdle, isQuiescing, waiting, running, dispatched, rejected, cancelled } = set;
    return [name, active, isIdle, isQuiescing, waiting, running.length, dispatched, rejected, 0, cancelled];
  });
  return table([header, ...rows]);
}

/** Returns a row for each queue. */
export function dumpQueues({ levels }: FlowControl): string {
  const header = [
    ...['PriorityLevelName', 'Index', 'PendingRequests', 'ExecutingRequests', 'SeatsInUse', 'NextDispatchR'],
    ...['InitialSeatsSum', 'MaxSeatsSum', 'TotalWorkSum'],
  ];
  const rows = byName(levels).flatMap(({ name, queues: { queues } }) =>
    queues.map(({ index, waiting, executing, seatsInUse, nextDispatchR, initialSeats, maxSeats, work }): Row => {
      const counts = [waiting.length, executing, seatsInUse];
      return [name, index, ...counts, seatSeconds(nextDispatchR), initialSeats, maxSeats, seatSeconds(work)];
    }),
  );
  return table([header, ...rows]);
}

/** Returns a row for each waiting and executing request. `epochMs` is the time at which the monotonic clock was 0. */
export function dumpRequests({ levels }: FlowControl, epochMs: number, withDetails: boolean): string {
  const header = [
    ...['PriorityLevelName', 'FlowSchemaName', 'QueueIndex', 'RequestIndexInQueue', 'FlowDistingsher', 'ArriveTime'],
    ...['InitialSeats', 'FinalSeats', 'AdditionalLatency', 'StartTime'],
  ];
  const details = ['UserName', 'Verb', 'APIPath', 'Namespace', 'Name', 'APIVersion', 'Resource', 'SubResource'];
  const rows: Row[] = [withDetails ? [...header, ...details] : header];
  for (const { name, queues: set } of byName(levels)) {
    const add = (request: FlowRequest, position: number) => {
      const row = requestRow(name, request, position, epochMs);
      rows.push(withDetails ? [...row, ...detailsOf(request)] : row);
    };
    for (const queue of set.queues) {
      let position = 0;
      for (const request of queue.waiting) add(request, position++);
      for (const request of set.running) if (request.queue === queue) add(request, -1);
    }
    for (const request of set.running) if (!request.queue) add(request, -1);
  }
  return table(rows);
}

function requestRow(level: string, request: FlowRequest, position: number, epochMs: number): Row {
  const { flow, queue, arrivalMs, startMs, initialSeats, finalSeats, lingerMs, state } = request;
  const start = state === 'waiting' ? '0001-01-01T00:00:00Z' : timeText(startMs, epochMs);
  return [
    ...[level, flow.schemaName, queue?.index ?? -1, position, flow.distinguisher, timeText(arrivalMs, epochMs)],
    ...[initialSeats, finalSeats, lingerMs === 0 ? '0s' : `${Number(lingerMs.toFixed(6))}ms`, start],
  ];
}

function detailsOf({ user, info }: FlowRequest): Row {
  const { verb, path, namespace, name, group, version, resource, subresource } = info;
  const apiVersion = group === '' ? version : `${group}/${version}`;
  return [user.name, verb, path, namespace, name, apiVersion, resource, subresource];
}

const byName = (levels: ReadonlyMap<string, PriorityLevel>): PriorityLevel[] =>
  [...levels.values()].sort((a, b) => (a.name < b.name ? -1 : 1));

/** `4.16020375ss` */
const seatSeconds = (value: number): string => `${value.toFixed(8)}ss`;

function timeText(monotonicMs: number, epochMs: number): string {
  const atMs = epochMs + monotonicMs;
  const nanos = Math.round((atMs - Math.floor(atMs / 1000) * 1000) * 1e6);
  const seconds = new Date(Math.floor(atMs / 1000) * 1000).toISOString().slice(0, 19);
  return `${seconds}.${String(nanos).padStart(9, '0')}`.replace(/\.?0+$/, '').concat('Z');
}

const columnWidthMin = 8;

/** Aligns columns as Go's tabwriter does: each is as wide as its longest cell with comma and a space; the last is not padded. */
function table(rows: readonly Row[]): string {
  const texts = rows.map((row) => row.map((cell) => oneLine(String(cell))));
  const widths: number[] = [];
  for (const row of texts) {
    for (const [at, cell] of row.entries()) {
      widths[at] = Math.max(widths[at] ?? columnWidthMin, [...cell].length + 2);
    }
  }
  const line = (row: readonly string[]) =>
    row
      .map((cell, at) => (at === row.length - 1 ? cell : `${cell},${' '.repeat(widths[at]! - [...cell].length - 1)}`))
      .join('');
  return texts.map((row) => `${line(row)}\n`).join('');
}

/** Names of users may contain anything; a row is a line. */
const oneLine = (text: string): string => text.replace(/[\x00-\x1f\x7f]/g, ' ');

import type { KubeObject } from '../../machinery/kube-object.js';

/** A column of a Table. kubectl shows columns of priority 0 always, others with `-o wide`. */
export interface TableColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  /** `name` for the column with the object's name. */
  readonly format?: string;
  readonly description: string;
  readonly priority?: number;
}

export type TableCell = string | number | bigint | boolean | null;

/** A condition of a row. kubectl hides rows with the condition `Completed`. */
interface RowCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason?: string;
  readonly message?: string;
}

/** `T` is the type of the kind, see Strategy. */
export interface TableDefinition<T extends KubeObject = KubeObject> {
  readonly columns: readonly TableColumn[];
  readonly cells: (object: T, context: { readonly nowMs: number }) => TableCell[];
  readonly conditions?: (object: T) => readonly RowCondition[];
}

export const nameColumn: TableColumn = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'The name, unique among objects of this kind in the namespace or cluster.',
};

export const ageColumn: TableColumn = {
  name: 'Age',
  type: 'string',
  description: 'Time since the object was created.',
};

/** The columns of kinds without columns of their own. */
export const defaultTable: TableDefinition = {
  columns: [nameColumn, { name: 'Created At', type: 'date', description: 'Time at which the object was created.' }],
  cells: (object) => [object.metadata.name ?? '', object.metadata.creationTimestamp ?? null],
};

const unknownAge = '<unknown>';

/** Formats an age as kubectl does: `12s`, `3m4s`, `5h`, `2d3h`. */
export function ageCell(timestamp: string | null | undefined, nowMs: number): string {
  if (!timestamp) return unknownAge;
  const createdMs = Date.parse(timestamp);
  return Number.isNaN(createdMs) ? unknownAge : humanDuration(nowMs - createdMs);
}

/** Formats a duration with two units if the larger one is small, otherwise with one. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.trunc(seconds / 60);
  if (minutes < 10) return twoUnits(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.trunc(minutes / 60);
  if (hours < 8) return twoUnits(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  if (hours < 192) return twoUnits(Math.trunc(hours / 24), 'd', hours % 24, 'h');
  if (hours < 24 * 365 * 2) return `${Math.trunc(hours / 24)}d`;
  if (hours < 24 * 365 * 8) return twoUnits(Math.trunc(hours / 24 / 365), 'y', Math.trunc(hours / 24) % 365, 'd');
  return `${Math.trunc(hours / 24 / 365)}y`;
}

function twoUnits(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
}

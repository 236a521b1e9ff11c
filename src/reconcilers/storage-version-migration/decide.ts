import type { Condition } from '../../catalog/types/meta.v1.js';
import type {
  StorageVersionMigration,
  StorageVersionMigrationStatus,
} from '../../catalog/types/storagemigration.v1beta1.js';
import { qualifiedResource } from '../../machinery/gvk.js';

/** The time for which a migration waits for its resource to be served: its CustomResourceDefinition may be new. */
export const resourceWaitMs = 60_000;

type Conditions = readonly Condition[];

/** The fields of a StorageVersionMigration from which its next step follows. */
export interface Migration {
  readonly name: string;
  readonly uid: string | undefined;
  readonly createdAt: string;
  readonly group: string;
  readonly resource: string;
  readonly isRunning: boolean;
  readonly isTerminal: boolean;
  readonly succeeded: boolean;
  /** Empty until it is Running. Objects that were written later need no migration. */
  readonly resourceVersion: string;
}

export function migrationOf({ metadata, spec, status }: StorageVersionMigration): Migration {
  const { group = '', resource = '' } = spec?.resource ?? {};
  const conditions = status?.conditions ?? [];
  return {
    name: metadata.name ?? '',
    uid: metadata.uid,
    createdAt: metadata.creationTimestamp ?? '',
    group,
    resource,
    isRunning: isTrue(conditions, 'Running'),
    isTerminal: isTerminal(conditions),
    succeeded: isTrue(conditions, 'Succeeded'),
    resourceVersion: status?.resourceVersion ?? '',
  };
}

/** Names the resource of a migration, as the CustomResourceDefinition of the resource is named. */
export const resourceOf = ({ group, resource }: Migration): string => qualifiedResource(group, resource);

/** A migration that has ended, and whose result is in all conditions. */
export const isFinished = ({ isRunning, isTerminal }: Migration): boolean => isTerminal && !isRunning;

interface Step {
  /** `end` sets Running to False, `start` sets it to True, `migrate` does the work in between. */
  readonly type: 'end' | 'start' | 'migrate';
  readonly migration: Migration;
}

/**
 * Chooses the next step of all migrations of one resource. One of them runs at a time; the oldest is next, and the name
 * decides between migrations of the same second.
 */
export function nextStep(migrations: Iterable<Migration>): Step | undefined {
  let next: Step | undefined;
  for (const migration of migrations) {
    if (isFinished(migration)) continue;
    const step: Step = { type: typeOf(migration), migration };
    if (!next || isBefore(step, next)) next = step;
  }
  return next;
}

const order: readonly Step['type'][] = ['end', 'migrate', 'start'];

const typeOf = ({ isTerminal, isRunning }: Migration): Step['type'] =>
  isTerminal ? 'end' : isRunning ? 'migrate' : 'start';

function isBefore({ type, migration }: Step, other: Step): boolean {
  if (type !== other.type) return order.indexOf(type) < order.indexOf(other.type);
  const { createdAt, name } = migration;
  if (createdAt !== other.migration.createdAt) return createdAt < other.migration.createdAt;
  return name < other.migration.name;
}

type Status = StorageVersionMigrationStatus;

export function started(status: Status = {}, now: string): Status {
  if (isTerminal(status.conditions)) return status;
  return withCondition(status, condition('Running', 'MigrationRunning', 'The migration is running', now));
}

export function atRevision(status: Status = {}, resourceVersion: string): Status {
  if (isTerminal(status.conditions) || status.resourceVersion) return status;
  return { ...status, resourceVersion };
}

export function succeeded(status: Status = {}, now: string): Status {
  if (isTerminal(status.conditions)) return status;
  return withCondition(status, condition('Succeeded', 'StorageVersionMigrationSucceeded', '', now));
}

export function failed(status: Status = {}, message: string, now: string): Status {
  if (isTerminal(status.conditions)) return status;
  const shown = message.length > messageLengthMax ? `${message.slice(0, messageLengthMax)}…` : message;
  return withCondition(status, condition('Failed', 'StorageVersionMigrationFailed', shown, now));
}

export function ended(status: Status = {}, now: string): Status {
  if (!isTrue(status.conditions, 'Running')) return status;
  const completed = condition('Running', 'MigrationCompleted', 'Migration completed', now);
  return withCondition(status, { ...completed, status: 'False' });
}

/** The message of a failure while objects were rewritten. */
export const unhandled = (message: string): string => `migration encountered unhandled error: ${message}`;

/** Validation accepts 32 KiB, and a character has at most three bytes. */
const messageLengthMax = 10_000;

const condition = (type: string, reason: string, message: string, now: string): Condition => ({
  type,
  status: 'True',
  lastTransitionTime: now,
  reason,
  message,
});

/** Adds the condition, or replaces the one of its type. */
function withCondition(status: Status, added: Condition): Status {
  const conditions = status.conditions ?? [];
  const isKnown = conditions.some(({ type }) => type === added.type);
  const replaced = conditions.map((known) => (known.type === added.type ? added : known));
  return { ...status, conditions: isKnown ? replaced : [...conditions, added] };
}

const isTerminal = (conditions: Conditions | undefined): boolean =>
  isTrue(conditions, 'Succeeded') || isTrue(conditions, 'Failed');

const isTrue = (conditions: Conditions | undefined = [], type: string): boolean =>
  conditions.some((known) => known.type === type && known.status === 'True');

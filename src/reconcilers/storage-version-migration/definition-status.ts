import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionStatus,
} from '../../catalog/types/apiextensions.v1.js';
import { conditionsOf } from '../../custom-kinds/definition-conditions.js';

const type = 'StorageMigrating';

/** The status of a CustomResourceDefinition whose objects begin to be migrated. */
export function migrating(
  definition: CustomResourceDefinition,
  migration: string,
  now: string,
): CustomResourceDefinitionStatus {
  const finding = { status: 'True', reason: 'MigrationRunning', message: `Migration ${migration} is running` };
  return { ...definition.status, conditions: withCondition(definition, finding, now) };
}

/**
 * The status after the migration. status.storedVersions becomes the storage version alone if all objects were migrated
 * and the definition has not changed meanwhile. kube-controller-manager also does this after a failed migration, which
 * allows removing a version that objects are still stored in.
 */
export function migrated(
  definition: CustomResourceDefinition,
  succeeded: boolean,
  now: string,
): CustomResourceDefinitionStatus {
  const known = conditionsOf(definition).find((condition) => condition.type === type);
  const isUnchanged = known !== undefined && known.observedGeneration === definition.metadata.generation;
  const versions = isUnchanged
    ? 'and the stored versions have been updated'
    : 'but the stored versions have not been updated due to a generation mismatch';
  const finding = succeeded
    ? { status: 'False', reason: 'MigrationSucceeded', message: `The migration has succeeded ${versions}` }
    : { status: 'False', reason: 'MigrationFailed', message: 'The migration has failed' };
  const conditions = withCondition(definition, finding, now);
  const version = storageVersionOf(definition);
  const updatesVersions = succeeded && isUnchanged && version !== undefined;
  return { ...definition.status, conditions, ...(updatesVersions && { storedVersions: [version] }) };
}

export const storageVersionOf = ({ spec }: CustomResourceDefinition): string | undefined =>
  (spec?.versions ?? []).find(({ storage }) => storage)?.name;

type Finding = Pick<CustomResourceDefinitionCondition, 'status' | 'reason' | 'message'>;

function withCondition(definition: CustomResourceDefinition, finding: Finding, now: string) {
  const before = conditionsOf(definition);
  const { generation } = definition.metadata;
  const observed = generation === undefined ? {} : { observedGeneration: generation };
  const condition = { type, lastTransitionTime: now, ...finding, ...observed };
  const isKnown = before.some((known) => known.type === type);
  return isKnown ? before.map((known) => (known.type === type ? condition : known)) : [...before, condition];
}

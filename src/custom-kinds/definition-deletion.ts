import type { CustomResourceDefinition } from '../catalog/types/apiextensions.v1.js';
import type { NamingProfile } from '../config/naming-profile.js';
import { definitionCleanupFinalizer } from '../machinery/finalizers.js';
import type { DeletionStrategy } from '../registry/definition/strategy.js';
import { conditionsOf, withFinding, type Finding } from './definition-conditions.js';

export const terminating = (status: Finding['status'], reason: string, message: string): Finding => ({
  type: 'Terminating',
  status,
  reason,
  message,
});

const pending = terminating(
  'True',
  'InstanceDeletionPending',
  'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
);

/** Deletion of a definition: sets deletionTimestamp, and keeps the definition until all its objects are deleted. */
export function definitionDeletion(naming: NamingProfile): DeletionStrategy<CustomResourceDefinition> {
  const finalizer = definitionCleanupFinalizer(naming);
  return {
    keepsGeneration: true,
    // With a deletionTimestamp, only finalizers keep it.
    holds: ({ metadata }) => metadata.deletionTimestamp === undefined,
    prepareForDelete(definition, { now }) {
      const { metadata } = definition;
      if (!metadata.finalizers?.includes(finalizer)) metadata.finalizers = [...(metadata.finalizers ?? []), finalizer];
      // A definition has no grace period.
      delete metadata.deletionGracePeriodSeconds;
      const status = (definition.status ??= {});
      status.conditions = [...withFinding(conditionsOf(definition), pending, now)];
    },
  };
}

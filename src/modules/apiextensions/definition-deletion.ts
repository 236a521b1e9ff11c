import type { NamingProfile } from '../../config/naming-profile.js';
import { makeFields } from '../../machinery/fields.js';
import type { DeletionStrategy } from '../../registry/strategy.js';
import { conditionsOf, withFinding, type Finding } from './definition-conditions.js';

/** Holds a definition until all objects of the kind are gone. */
export const cleanupFinalizer = (naming: NamingProfile): string => naming.group('customresourcecleanup.apiextensions');

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

/** A definition that is deleted stays, marked, whatever it holds: its objects go first. */
export function definitionDeletion(naming: NamingProfile): DeletionStrategy {
  const finalizer = cleanupFinalizer(naming);
  return {
    // Once it is marked, its finalizers say how long it stays.
    holds: ({ metadata }) => metadata.deletionTimestamp === undefined,
    prepareForDelete(definition, { now }) {
      const { metadata } = definition;
      if (!metadata.finalizers?.includes(finalizer)) metadata.finalizers = [...(metadata.finalizers ?? []), finalizer];
      // It waits for its objects, not for a time; and nobody has asked for another definition.
      delete metadata.deletionGracePeriodSeconds;
      if (metadata.generation !== undefined && metadata.generation > 1) metadata.generation--;
      makeFields(definition, 'status')['conditions'] = withFinding(conditionsOf(definition), pending, now);
    },
  };
}

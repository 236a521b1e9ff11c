import type { CustomResourceDefinition } from '../../catalog/types/apiextensions.v1.js';
import { migrated, migrating } from './definition-status.js';

const now = '2026-01-02T03:04:05Z';
const established = { type: 'Established', status: 'True', lastTransitionTime: now, reason: 'r', message: 'm' };

const definition: CustomResourceDefinition = {
  kind: 'CustomResourceDefinition',
  apiVersion: 'apiextensions.k8s.io/v1',
  metadata: { name: 'widgets.example.com', generation: 3 },
  spec: { versions: [{ name: 'v1' }, { name: 'v2', storage: true }] },
  status: { conditions: [established], storedVersions: ['v1', 'v2'] },
};
const during = { ...definition, status: migrating(definition, 'm', now) };
const condition = { type: 'StorageMigrating', lastTransitionTime: now, observedGeneration: 3 };

it('a definition whose objects are migrated has the condition StorageMigrating', () => {
  const started = { ...condition, status: 'True', reason: 'MigrationRunning', message: 'Migration m is running' };
  expect(during.status).toEqual({ conditions: [established, started], storedVersions: ['v1', 'v2'] });
});

it.each<[string, CustomResourceDefinition, boolean, string, string[]]>([
  ['success', during, true, 'The migration has succeeded and the stored versions have been updated', ['v2']],
  ['failure', during, false, 'The migration has failed', ['v1', 'v2']],
  [
    'success of a definition that has changed meanwhile',
    { ...during, metadata: { ...during.metadata, generation: 4 } },
    true,
    'The migration has succeeded but the stored versions have not been updated due to a generation mismatch',
    ['v1', 'v2'],
  ],
  [
    'success of a definition without the condition',
    definition,
    true,
    'The migration has succeeded but the stored versions have not been updated due to a generation mismatch',
    ['v1', 'v2'],
  ],
])('status.storedVersions after %s', (_, before, succeeded, message, storedVersions) => {
  const reason = succeeded ? 'MigrationSucceeded' : 'MigrationFailed';
  const observedGeneration = before.metadata.generation;
  const ended = { ...condition, status: 'False', reason, message, observedGeneration };
  expect(migrated(before, succeeded, now)).toEqual({ conditions: [established, ended], storedVersions });
});

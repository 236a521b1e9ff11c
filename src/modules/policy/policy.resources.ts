import { defineResource, type ResourceDefinition } from '../../registry/definition/resource-definition.js';
import { podDisruptionBudgetStatusSubresource, podDisruptionBudgetStrategy } from './pod-disruption-budget.strategy.js';
import { podDisruptionBudgetTable } from './pod-disruption-budget.table.js';
import { storedBudgets } from './stored-versions.js';

export const policyVersion = { group: 'policy', version: 'v1' } as const;

export const policyResources: readonly ResourceDefinition[] = [
  defineResource({
    ...policyVersion,
    kind: 'PodDisruptionBudget',
    plural: 'poddisruptionbudgets',
    shortNames: ['pdb'],
    namespaced: true,
    strategy: podDisruptionBudgetStrategy,
    table: podDisruptionBudgetTable,
    subresources: { status: podDisruptionBudgetStatusSubresource },
    // Evictions decrement status.disruptionsAllowed: an unconditional update could restore an old value.
    allowsUnconditionalUpdate: false,
    storedVersions: storedBudgets,
  }),
];

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
    // Evictions count down in its status: a write that does not say what it read could give them back.
    allowsUnconditionalUpdate: false,
    storedVersions: storedBudgets,
  }),
];

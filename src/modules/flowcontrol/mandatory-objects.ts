import { allAuthenticated, allUnauthenticated, privilegedGroup } from '../../machinery/user-info.js';
import type { Fields } from '../../machinery/fields.js';

/** Rules that cover every request there is. */
export const everything = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
} as const;

export const groupSubject = (name: string) => ({ kind: 'Group', group: { name } });

/**
 * What is always there, and always like this: who is exempt, so that nobody can lock the operator out, and what is
 * done with a request that no schema matches.
 */
export const mandatoryFlowSchemas: Readonly<Record<string, Fields>> = {
  'catch-all': {
    priorityLevelConfiguration: { name: 'catch-all' },
    matchingPrecedence: 10_000,
    distinguisherMethod: { type: 'ByUser' },
    rules: [{ subjects: [groupSubject(allUnauthenticated), groupSubject(allAuthenticated)], ...everything }],
  },
  exempt: {
    priorityLevelConfiguration: { name: 'exempt' },
    matchingPrecedence: 1,
    rules: [{ subjects: [groupSubject(privilegedGroup)], ...everything }],
  },
};

export const mandatoryPriorityLevels: Readonly<Record<string, Fields>> = {
  'catch-all': {
    type: 'Limited',
    limited: { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' }, lendablePercent: 0 },
  },
  exempt: { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } },
};

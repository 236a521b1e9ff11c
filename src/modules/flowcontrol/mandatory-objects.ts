import type { FlowSchemaSpec, PriorityLevelConfigurationSpec } from '../../catalog/types/flowcontrol.v1.js';
import { allAuthenticated, allUnauthenticated, privilegedGroup } from '../../machinery/user-info.js';

/** Rules that match all requests. */
export const everything = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
} as const;

export const groupSubject = (name: string) => ({ kind: 'Group', group: { name } });

/**
 * Specs of the objects that always exist and cannot change: `exempt`, so that administrators are never queued, and
 * `catch-all`, for requests that no other FlowSchema matches.
 */
export const mandatoryFlowSchemas: Readonly<Record<string, FlowSchemaSpec>> = {
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

export const mandatoryPriorityLevels: Readonly<Record<string, PriorityLevelConfigurationSpec>> = {
  'catch-all': {
    type: 'Limited',
    limited: { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' }, lendablePercent: 0 },
  },
  exempt: { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } },
};

import type {
  FlowSchemaSpec,
  PolicyRulesWithSubjects,
  PriorityLevelConfigurationSpec,
} from '../../catalog/types/flowcontrol.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { allAuthenticated, allUnauthenticated, groupNames, userNames } from '../../machinery/user-info.js';
import { everything, groupSubject, mandatoryFlowSchemas, mandatoryPriorityLevels } from './mandatory-objects.js';

/**
 * Specs of the objects that are created at the first start, by name. Each object has an annotation that allows the
 * server to update its spec at a later start; administrators set it to `false` on suggested objects that they change.
 */
interface FlowcontrolBootObjects {
  readonly flowSchemas: Readonly<Record<string, FlowSchemaSpec>>;
  readonly priorityLevels: Readonly<Record<string, PriorityLevelConfigurationSpec>>;
}

export const autoupdateAnnotation = (naming: NamingProfile): string => naming.label('autoupdate-spec', 'apf');

export function flowcontrolBootObjects(naming: NamingProfile): FlowcontrolBootObjects {
  return {
    flowSchemas: { ...suggestedFlowSchemas(naming), ...mandatoryFlowSchemas },
    priorityLevels: { ...suggestedPriorityLevels, ...mandatoryPriorityLevels },
  };
}

/** The spec of a level that queues up to 50 requests in each queue. */
const level = (
  shares: number,
  lendablePercent: number,
  queues: number,
  handSize: number,
): PriorityLevelConfigurationSpec => ({
  type: 'Limited',
  limited: {
    nominalConcurrencyShares: shares,
    limitResponse: { type: 'Queue', queuing: { queues, handSize, queueLengthLimit: 50 } },
    lendablePercent,
  },
});

const suggestedPriorityLevels: Readonly<Record<string, PriorityLevelConfigurationSpec>> = {
  'global-default': level(20, 50, 128, 6),
  'leader-election': level(10, 0, 16, 4),
  'node-high': level(40, 25, 64, 6),
  system: level(30, 33, 64, 6),
  'workload-high': level(40, 50, 128, 6),
  'workload-low': level(100, 90, 128, 6),
};

const userSubject = (name: string) => ({ kind: 'User', user: { name } });

const schema = (
  priorityLevel: string,
  matchingPrecedence: number,
  by: string | undefined,
  rules: PolicyRulesWithSubjects,
): FlowSchemaSpec => ({
  priorityLevelConfiguration: { name: priorityLevel },
  matchingPrecedence,
  ...(by !== undefined && { distinguisherMethod: { type: by } }),
  rules: [rules],
});

function suggestedFlowSchemas(naming: NamingProfile): Readonly<Record<string, FlowSchemaSpec>> {
  const systemAccounts = {
    kind: 'ServiceAccount',
    serviceAccount: { namespace: naming.systemNamespace('system'), name: '*' },
  };
  const everybody = [groupSubject(allUnauthenticated), groupSubject(allAuthenticated)];
  const controllerManager = userSubject(userNames.controllerManager);
  const scheduler = userSubject(userNames.scheduler);
  const nodes = groupSubject(groupNames.nodes);
  const leases = { apiGroups: [naming.group('coordination')], resources: ['leases'], namespaces: ['*'] };
  const nodeStatus = {
    apiGroups: [''],
    resources: ['nodes', 'nodes/status'],
    clusterScope: true,
    namespaces: ['*'],
  };
  return {
    'global-default': schema('global-default', 9900, 'ByUser', { subjects: everybody, ...everything }),
    [naming.systemName('controller-manager')]: schema('workload-high', 800, 'ByNamespace', {
      subjects: [controllerManager],
      ...everything,
    }),
    [naming.systemName('scheduler')]: schema('workload-high', 800, 'ByNamespace', {
      subjects: [scheduler],
      ...everything,
    }),
    [naming.systemName('system-service-accounts')]: schema('workload-high', 900, 'ByNamespace', {
      subjects: [systemAccounts],
      ...everything,
    }),
    probes: schema('exempt', 2, undefined, {
      subjects: everybody,
      nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }],
    }),
    'service-accounts': schema('workload-low', 9000, 'ByUser', {
      subjects: [groupSubject(groupNames.serviceAccounts)],
      ...everything,
    }),
    'system-leader-election': schema('leader-election', 100, 'ByUser', {
      subjects: [controllerManager, scheduler, systemAccounts],
      resourceRules: [{ verbs: ['get', 'create', 'update'], ...leases }],
    }),
    'system-node-high': schema('node-high', 400, 'ByUser', {
      subjects: [nodes],
      resourceRules: [
        { verbs: ['*'], ...nodeStatus },
        { verbs: ['*'], ...leases },
      ],
    }),
    'system-nodes': schema('system', 500, 'ByUser', { subjects: [nodes], ...everything }),
  };
}

import type { FlowSchema, NonResourcePolicyRule, ResourcePolicyRule } from '../catalog/types/flowcontrol.v1.js';
import type { RequestInfo } from '../machinery/request-info.js';
import type { UserInfo } from '../machinery/user-info.js';
import { Flow } from './flow.js';
import type { FlowSeries } from './flow-series.js';
import type { PriorityLevel } from './priority-level.js';
import { matchesAllPaths, matchesAllResources, matchesPath, matchesResource, rulesOfUser } from './schema-rules.js';

/** A FlowSchema in force. */
export interface SchemaInForce {
  readonly object: FlowSchema;
  readonly level: PriorityLevel;
  readonly series: FlowSeries;
}

/** A FlowSchema that may match requests of one user. */
interface Candidate<Rule> {
  readonly schema: SchemaInForce;
  readonly rules: readonly Rule[];
  readonly matchesAll: boolean;
  /** The flow of the user; requests are divided by namespace if there is `byNamespace`. */
  readonly flow: Flow;
  readonly byNamespace: Map<string, Flow> | undefined;
}

interface CandidatesOfUser {
  readonly resource: readonly Candidate<ResourcePolicyRule>[];
  readonly nonResource: readonly Candidate<NonResourcePolicyRule>[];
}

interface Classified {
  readonly flow: Flow;
  readonly level: PriorityLevel;
}

const namespacesOfUserMax = 1000;

/**
 * Finds the FlowSchema and the flow of requests. The schemas whose subjects include a user are found once per user, as
 * long as the authenticator returns the same object for it; mostly the first of them matches all requests.
 */
export class Classifier {
  private readonly users = new WeakMap<UserInfo, CandidatesOfUser>();

  /** `schemas` are in the order of matching. */
  constructor(private readonly schemas: readonly SchemaInForce[]) {}

  classify(info: RequestInfo, user: UserInfo): Classified {
    let candidates = this.users.get(user);
    if (!candidates) this.users.set(user, (candidates = this.candidatesOf(user)));
    return info.isResourceRequest
      ? this.resource(candidates.resource, info, user)
      : this.nonResource(candidates.nonResource, info, user);
  }

  private resource(candidates: CandidatesOfUser['resource'], info: RequestInfo, user: UserInfo): Classified {
    for (const candidate of candidates) {
      if (candidate.matchesAll) return flowIn(candidate, info);
      for (const rule of candidate.rules) if (matchesResource(rule, info)) return flowIn(candidate, info);
    }
    return this.unmatched(info, user);
  }

  private nonResource(candidates: CandidatesOfUser['nonResource'], info: RequestInfo, user: UserInfo): Classified {
    for (const candidate of candidates) {
      if (candidate.matchesAll) return flowIn(candidate, info);
      for (const rule of candidate.rules) if (matchesPath(rule, info)) return flowIn(candidate, info);
    }
    return this.unmatched(info, user);
  }

  /** Requests of a user outside system:authenticated and system:unauthenticated are those of `catch-all`. */
  private unmatched(info: RequestInfo, user: UserInfo): Classified {
    const catchAll = this.schemas.find(({ object }) => object.metadata.name === 'catch-all')!;
    return flowIn(candidateOf(catchAll, [], true, user), info);
  }

  private candidatesOf(user: UserInfo): CandidatesOfUser {
    const resource: Candidate<ResourcePolicyRule>[] = [];
    const nonResource: Candidate<NonResourcePolicyRule>[] = [];
    for (const schema of this.schemas) {
      const own = rulesOfUser(schema.object.spec?.rules ?? [], user);
      // Schemas after one that matches all requests never apply.
      if (own.resource.length > 0 && resource.at(-1)?.matchesAll !== true)
        resource.push(candidateOf(schema, own.resource, own.resource.some(matchesAllResources), user));
      if (own.nonResource.length > 0 && nonResource.at(-1)?.matchesAll !== true)
        nonResource.push(candidateOf(schema, own.nonResource, own.nonResource.some(matchesAllPaths), user));
    }
    return { resource, nonResource };
  }
}

function candidateOf<Rule>(
  schema: SchemaInForce,
  rules: readonly Rule[],
  matchesAll: boolean,
  user: UserInfo,
): Candidate<Rule> {
  const method = schema.object.spec?.distinguisherMethod?.type;
  const isByUser = method === 'ByUser' && isDivided(schema.level);
  const isByNamespace = method === 'ByNamespace' && isDivided(schema.level);
  return {
    schema,
    rules,
    matchesAll,
    flow: flowOf(schema, isByUser ? user.name : ''),
    byNamespace: isByNamespace ? new Map<string, Flow>() : undefined,
  };
}

/** A level with one queue or none does not divide its requests into flows. */
const isDivided = ({ spec: { queuing } }: PriorityLevel): boolean => queuing.queues > 1;

function flowOf({ object, level, series }: SchemaInForce, distinguisher: string): Flow {
  const { name = '', uid = '' } = object.metadata;
  return new Flow(name, distinguisher, { schema: uid, level: level.spec.uid }, series);
}

function flowIn(candidate: Candidate<unknown>, { namespace }: RequestInfo): Classified {
  const { schema, byNamespace } = candidate;
  if (!byNamespace) return { flow: candidate.flow, level: schema.level };
  let flow = byNamespace.get(namespace);
  if (!flow) {
    if (byNamespace.size >= namespacesOfUserMax) byNamespace.clear();
    byNamespace.set(namespace, (flow = flowOf(schema, namespace)));
  }
  return { flow, level: schema.level };
}

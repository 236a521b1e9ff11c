import { ApiError } from '../../../machinery/api-error.js';
import type { JsonValue, KubeObject } from '../../../machinery/kube-object.js';
import { parseDeleteOptions, parseListOptions, type DeleteOptions } from '../../../machinery/list-options.js';
import { Query } from '../../../machinery/query.js';
import type { HandlerResult } from '../../../registry/apis/api-group.js';
import { deleteObject } from '../../../registry/write/delete.js';
import { listObjects } from '../../../registry/read/list.js';
import type { RequestContext } from '../../../registry/request-context.js';
import type { ViewSubresource } from '../../../registry/definition/resource-definition.js';
import type { ResourceStore } from '../../../registry/resource-store.js';
import { objectTime } from '../../../registry/write/system-fields.js';
import { updateObject } from '../../../registry/write/update.js';
import { noAdmission, type WriteContext } from '../../../registry/write/write-context.js';
import {
  budgetsOf,
  goesUnasked,
  hasEnded,
  markedAsEvicted,
  mayGoUnready,
  stillProcessed,
  takeDisruption,
} from './eviction.rules.js';

export interface EvictionParts {
  readonly pods: ResourceStore;
  /** Undefined where nobody serves budgets: then nothing is held back. */
  readonly budgets: ResourceStore | undefined;
  readonly metaGroup: string;
}

type Target = { readonly namespace: string; readonly name: string };

/**
 * Deletes a pod if its disruption budget has one to give. The budget is counted down by compare-and-set before the pod
 * goes, so that of many evictions at once no more succeed than it allows.
 */
export async function evict(
  parts: EvictionParts,
  target: Target,
  eviction: KubeObject,
  request: RequestContext,
): Promise<HandlerResult> {
  const options = optionsOf(eviction, request, parts.metaGroup);
  const context = { ...request, dryRun: request.dryRun || options.dryRun };
  const pod = await withoutAsking(parts, target, options, context);
  if (pod === undefined) return evicted;

  const budgets = budgetsOf(pod, await allBudgets(parts.budgets, target.namespace, context));
  const [budget] = budgets;
  if (budgets.length > 1) return { object: severalBudgets, code: 500 };
  const isUnready = budget !== undefined && mayGoUnready(pod, budget);
  if (budget && !isUnready) await countDown(parts.budgets!, budget, target.name, context);

  const { resourceVersion } = pod.metadata;
  const asSeen = isUnready ? withVersion(options, resourceVersion) : options;
  try {
    await markAndDelete(parts.pods, target, asSeen, context);
  } catch (error) {
    // It may be ready by now, and then the budget has a say.
    if (isConflict(error) && isUnready && asSeen !== options) throw stillProcessed(budget.metadata.name ?? '');
    throw error;
  }
  return evicted;
}

const evicted: HandlerResult = {
  object: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 },
  code: 201,
};

const severalBudgets = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
  code: 500,
};

const isConflict = (error: unknown): boolean => error instanceof ApiError && error.reason === 'Conflict';

function optionsOf(eviction: KubeObject, request: RequestContext, metaGroup: string): DeleteOptions {
  const given = eviction['deleteOptions'] as JsonValue | undefined;
  const options = parseDeleteOptions(new Query(''), given ?? {}, { metaGroup });
  if (given === undefined || options.dryRun === request.dryRun || !request.dryRun) return options;
  const listed = (it: boolean) => (it ? '[All]' : '[]');
  throw ApiError.badRequest(
    `Non-matching dry-run options in request and content: ${listed(request.dryRun)} and ${listed(options.dryRun)}`,
  );
}

function withVersion(options: DeleteOptions, resourceVersion: string | undefined): DeleteOptions {
  if (options.preconditions?.resourceVersion !== undefined || resourceVersion === undefined) return options;
  return { ...options, preconditions: { ...options.preconditions, resourceVersion } };
}

/** Deletes a pod that nobody guards, and gives back nothing; any other pod is given back as it is. */
async function withoutAsking(
  { pods }: EvictionParts,
  target: Target,
  options: DeleteOptions,
  request: RequestContext,
): Promise<KubeObject | undefined> {
  const { writeConflictRetriesMax } = pods.dependencies.limits;
  for (let attempt = 0; ; attempt++) {
    const { encoded } = await pods.storedCurrent(pods.keyOf(target.namespace, target.name), request.signal);
    if (!encoded) throw ApiError.notFound(pods.groupResource, target.name);
    const pod = encoded.parse();
    if (!goesUnasked(pod)) return pod;
    const asSeen = hasEnded(pod) ? options : withVersion(options, pod.metadata.resourceVersion);
    try {
      await deleteObject(pods, target, asSeen, { request, admission: noAdmission });
      return undefined;
    } catch (error) {
      if (!isConflict(error) || asSeen === options || attempt >= writeConflictRetriesMax) throw error;
    }
  }
}

async function allBudgets(
  budgets: ResourceStore | undefined,
  namespace: string,
  { signal }: RequestContext,
): Promise<KubeObject[]> {
  if (!budgets) return [];
  const options = parseListOptions(new Query(''), { metaGroup: '' });
  const { items } = await listObjects(budgets, { namespace, options, signal });
  return items.map((item) => item.parse());
}

async function countDown(
  budgets: ResourceStore,
  budget: KubeObject,
  podName: string,
  request: RequestContext,
): Promise<void> {
  const { name = '', namespace = '' } = budget.metadata;
  const now = objectTime(budgets.dependencies.clock.now());
  try {
    await updateObject(
      budgets,
      { namespace, name },
      (current) => {
        if (!current) throw ApiError.notFound(budgets.groupResource, name);
        return takeDisruption(current, podName, now);
      },
      { subresource: statusOf(budgets), requiresResourceVersion: false, createsMissing: false },
      ownStatusWrite(budgets, request),
    );
  } catch (error) {
    if (!isConflict(error)) throw error;
    throw ApiError.timeout(`couldn't update PodDisruptionBudget "${name}" due to conflicts`, 10);
  }
}

/** The pod says why it goes, for as long as it takes; then it is deleted as by any other request. */
async function markAndDelete(
  pods: ResourceStore,
  target: Target,
  options: DeleteOptions,
  request: RequestContext,
): Promise<void> {
  const context = { request, admission: noAdmission };
  if (request.dryRun) return void (await deleteObject(pods, target, options, context));
  const now = objectTime(pods.dependencies.clock.now());
  const { encoded } = await updateObject(
    pods,
    target,
    (pod) => {
      if (!pod) throw ApiError.notFound(pods.groupResource, target.name);
      return markedAsEvicted(pod, now);
    },
    {
      subresource: statusOf(pods),
      preconditions: options.preconditions,
      requiresResourceVersion: false,
      createsMissing: false,
    },
    ownStatusWrite(pods, request),
  );
  // The version that was asked for is the one before the mark.
  const resourceVersion = encoded?.parse().metadata.resourceVersion;
  const marked =
    options.preconditions?.resourceVersion !== undefined && resourceVersion !== undefined
      ? { ...options, preconditions: { ...options.preconditions, resourceVersion } }
      : options;
  await deleteObject(pods, target, marked, context);
}

/** The mark and the count are the server's words, whoever asked for the eviction. */
function ownStatusWrite({ definition }: ResourceStore, request: RequestContext): WriteContext {
  return {
    request: { ...request, fieldManager: 'keelson' },
    admission: noAdmission,
    managedFields: { mode: 'track', definition, subresource: 'status' },
  };
}

/** Writes the status as it is given: whoever evicts has no part in the rest. */
function statusOf(store: ResourceStore): ViewSubresource {
  const status = store.definition.subresources['status'];
  if (status?.type !== 'view') throw ApiError.internal(`${store.definition.plural} have no status`);
  return status;
}

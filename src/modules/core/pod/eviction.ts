import type { Pod } from '../../../catalog/types/core.v1.js';
import type { PodDisruptionBudget } from '../../../catalog/types/policy.v1.js';
import { ApiError } from '../../../machinery/api-error.js';
import type { JsonValue, KubeObject } from '../../../machinery/kube-object.js';
import { parseDeleteOptions, type DeleteOptions } from '../../../machinery/delete-options.js';
import { parseListOptions } from '../../../machinery/list-options.js';
import { Query } from '../../../machinery/query.js';
import type { HandlerResult } from '../../../registry/apis/api-group.js';
import { subresourceOf, type ViewSubresource } from '../../../registry/definition/resource-definition.js';
import { listObjects } from '../../../registry/read/list.js';
import { withOptions, type RequestContext } from '../../../registry/request-context.js';
import type { ResourceStore } from '../../../registry/resource-store.js';
import { deleteObject, deleteObjectIf } from '../../../registry/write/delete.js';
import { objectTime } from '../../../registry/write/system-fields.js';
import { updateObject } from '../../../registry/write/update.js';
import { noAdmission, type WriteContext } from '../../../registry/write/write-context.js';
import {
  budgetsOf,
  canIgnoreBudgets,
  isUnreadyEvictionAllowed,
  notObservedError,
  takeDisruption,
  withDisruptionTarget,
} from './eviction.rules.js';

interface EvictionDependencies {
  readonly pods: ResourceStore;
  /** Undefined if PodDisruptionBudgets are not served; then no eviction is refused. */
  readonly budgets: ResourceStore | undefined;
  readonly metaGroup: string;
}

type Target = { readonly namespace: string; readonly name: string };

/** An Eviction. parseDeleteOptions() validates its deleteOptions. */
type Eviction = Pick<KubeObject, 'metadata'> & { readonly deleteOptions?: JsonValue | undefined };

/**
 * Deletes a Pod if its PodDisruptionBudget allows it. disruptionsAllowed is decremented by compare-and-set before the Pod
 * is deleted, so that no more of many concurrent evictions succeed than the budget allows.
 */
export async function evict(
  dependencies: EvictionDependencies,
  target: Target,
  eviction: Eviction,
  request: RequestContext,
): Promise<HandlerResult> {
  const options = deleteOptionsOf(eviction, request, dependencies.metaGroup);
  const context = withOptions(request, { dryRun: request.dryRun || options.dryRun });
  const pod = await deleteUnlessDisrupted(dependencies.pods, target, options, context);
  if (pod === undefined) return evicted;

  const budgets = budgetsOf(pod, await listBudgets(dependencies.budgets, target.namespace, context));
  const [budget] = budgets;
  if (budgets.length > 1) return { object: severalBudgets, code: 500 };
  const isAllowedUnready = budget !== undefined && isUnreadyEvictionAllowed(pod, budget);
  if (budget && !isAllowedUnready) await writeDisruption(dependencies.budgets!, budget, target.name, context);

  const { resourceVersion } = pod.metadata;
  const finalOptions = isAllowedUnready ? withPrecondition(options, resourceVersion) : options;
  try {
    await markAndDelete(dependencies.pods, target, finalOptions, context);
  } catch (error) {
    // The Pod changed. It may be ready now, and then the budget decides.
    if (isConflict(error) && isAllowedUnready && finalOptions !== options) {
      throw notObservedError(budget.metadata.name ?? '');
    }
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

function deleteOptionsOf(
  { deleteOptions: submitted }: Eviction,
  request: RequestContext,
  metaGroup: string,
): DeleteOptions {
  const options = parseDeleteOptions(new Query(''), submitted ?? {}, { metaGroup });
  if (submitted === undefined || options.dryRun === request.dryRun || !request.dryRun) return options;
  const listed = (isDryRun: boolean) => (isDryRun ? '[All]' : '[]');
  throw ApiError.badRequest(
    `Non-matching dry-run options in request and content: ${listed(request.dryRun)} and ${listed(options.dryRun)}`,
  );
}

/** Adds a resourceVersion to the preconditions if the client sent none. */
function withPrecondition(options: DeleteOptions, resourceVersion: string | undefined): DeleteOptions {
  if (options.preconditions?.resourceVersion !== undefined || resourceVersion === undefined) return options;
  return { ...options, preconditions: { ...options.preconditions, resourceVersion } };
}

/** Deletes a Pod that may ignore budgets and returns undefined; returns any other Pod unchanged. */
async function deleteUnlessDisrupted(
  pods: ResourceStore,
  target: Target,
  options: DeleteOptions,
  request: RequestContext,
): Promise<Pod | undefined> {
  const context = { request, admission: noAdmission };
  const outcome = await deleteObjectIf(pods, target, canIgnoreBudgets, options, context);
  return 'kept' in outcome ? outcome.kept : undefined;
}

async function listBudgets(
  budgets: ResourceStore | undefined,
  namespace: string,
  { signal }: RequestContext,
): Promise<PodDisruptionBudget[]> {
  if (!budgets) return [];
  const options = parseListOptions(new Query(''), { metaGroup: '' });
  const { items } = await listObjects(budgets, { namespace, options, caller: { signal } });
  return items.map((item) => item.parse());
}

async function writeDisruption(
  budgets: ResourceStore,
  budget: PodDisruptionBudget,
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
      statusWrite(budgets, request),
    );
  } catch (error) {
    if (!isConflict(error)) throw error;
    throw ApiError.timeout(`couldn't update PodDisruptionBudget "${name}" due to conflicts`, 10);
  }
}

/** Writes the condition DisruptionTarget, which no field manager owns, as in kube-apiserver, then deletes the Pod as any other request does. */
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
      return withDisruptionTarget(pod, now);
    },
    {
      subresource: statusOf(pods),
      preconditions: options.preconditions,
      requiresResourceVersion: false,
      createsMissing: false,
    },
    { request, admission: noAdmission, managedFields: { mode: 'none' } },
  );
  // The precondition was checked by this update, which has changed the resourceVersion.
  const resourceVersion = encoded?.parse().metadata.resourceVersion;
  const finalOptions =
    options.preconditions?.resourceVersion !== undefined && resourceVersion !== undefined
      ? { ...options, preconditions: { ...options.preconditions, resourceVersion } }
      : options;
  await deleteObject(pods, target, finalOptions, context);
}

/** The context of a status write by this server, with the field manager that kube-apiserver has for its own writes. */
function statusWrite({ definition }: ResourceStore, request: RequestContext): WriteContext {
  return {
    request: withOptions(request, { fieldManager: 'kube-apiserver' }),
    admission: noAdmission,
    managedFields: { mode: 'track', definition, subresource: 'status' },
  };
}

function statusOf(store: ResourceStore): ViewSubresource {
  const status = subresourceOf(store.definition, 'status');
  if (status?.type !== 'view') throw ApiError.internal(`${store.definition.plural} have no status`);
  return status;
}

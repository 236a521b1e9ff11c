import type { NodeCondition, NodeStatus } from '../../catalog/types/core.v1.js';
import { deepEqual } from '../../machinery/deep-equal.js';

type Fields = Readonly<Record<string, unknown>>;

/** True if two states differ in more than the times of heartbeats. */
export function hasStatusChanged(before: NodeStatus, after: NodeStatus): boolean {
  return statusPatch(withoutHeartbeats(before), withoutHeartbeats(after)) !== undefined;
}

function withoutHeartbeats(status: NodeStatus): NodeStatus {
  const conditions = (status.conditions ?? []).map((condition) => ({ ...condition, lastHeartbeatTime: undefined }));
  return { ...status, conditions };
}

/**
 * Returns the strategic merge patch that changes one status into another; undefined if they are equal. It names only
 * what the agent sets, so that it does not undo changes of others: conditions by their type, resources by their name.
 */
export function statusPatch(before: NodeStatus, after: NodeStatus): { readonly status: Fields } | undefined {
  const status: Record<string, unknown> = {
    ...changedEntries('capacity', before.capacity, after.capacity),
    ...changedEntries('allocatable', before.allocatable, after.allocatable),
    ...changedEntries('nodeInfo', before.nodeInfo, after.nodeInfo),
    ...changedField('daemonEndpoints', before.daemonEndpoints, after.daemonEndpoints),
    ...changedField('images', before.images ?? [], after.images ?? []),
    ...changedField('runtimeHandlers', before.runtimeHandlers, after.runtimeHandlers),
    ...changedField('features', before.features, after.features),
    ...conditionsField(before.conditions ?? [], after.conditions ?? []),
    ...addressesField(before, after),
  };
  return Object.keys(status).length === 0 ? undefined : { status };
}

function changedField(name: string, before: unknown, after: unknown): Fields {
  return after === undefined || deepEqual(before, after) ? {} : { [name]: after };
}

function changedEntries(name: string, before: Fields = {}, after: Fields = {}): Fields {
  const changed = Object.entries(after).filter(
    ([key, value]) => !deepEqual(Object.hasOwn(before, key) ? before[key] : undefined, value),
  );
  return changed.length === 0 ? {} : { [name]: Object.fromEntries(changed) };
}

function conditionsField(before: readonly NodeCondition[], after: readonly NodeCondition[]): Fields {
  const changed = after.filter(
    (condition) =>
      !deepEqual(
        before.find(({ type }) => type === condition.type),
        condition,
      ),
  );
  if (changed.length === 0) return {};
  return { conditions: changed, '$setElementOrder/conditions': after.map(({ type }) => ({ type })) };
}

/** Replaces the whole list: its merge key is the type, of which a Node may have two addresses. */
function addressesField({ addresses: before = [] }: NodeStatus, { addresses: after = [] }: NodeStatus): Fields {
  return deepEqual(before, after) ? {} : { addresses: [...after, { $patch: 'replace' }] };
}

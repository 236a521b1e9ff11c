import type { KubeObject, ObjectWithStatus } from '../../machinery/kube-object.js';
import { hasViewSubresource, type ResourceDefinition } from '../definition/resource-definition.js';
import type { StrategyContext } from '../definition/strategy.js';

type Prepared = Pick<ResourceDefinition, 'strategy' | 'subresources'>;

/** The step `prepare` of a create: sets the initial status of the kind, then calls its prepareForCreate. */
export function prepareCreated(definition: Prepared, object: KubeObject, context: StrategyContext): void {
  const { strategy } = definition;
  const { initialStatus = () => ({}) } = strategy;
  if (initialStatus !== 'submitted' && hasViewSubresource(definition, 'status')) {
    setStatus(object, initialStatus(object, context));
  }
  strategy.prepareForCreate?.(object, context);
}

/** The step `prepare` of an update of the main resource: keeps the old status, then calls prepareForUpdate of the kind. */
export function prepareUpdated(
  definition: Prepared,
  object: KubeObject,
  old: ObjectWithStatus,
  context: StrategyContext,
): void {
  if (hasViewSubresource(definition, 'status')) setStatus(object, old.status);
  definition.strategy.prepareForUpdate?.(object, old, context);
}

function setStatus(object: ObjectWithStatus, status: unknown): void {
  if (status === undefined) delete object.status;
  else object.status = status;
}

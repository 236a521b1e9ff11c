import type { Binding, Pod, PodCondition } from '../../../catalog/types/core.v1.js';
import { ApiError } from '../../../machinery/api-error.js';
import { fieldError, path, type FieldError } from '../../../machinery/field-error.js';
import type { ViewSubresource } from '../../../registry/definition/resource-definition.js';

const podBindings = { group: '', resource: 'pods/binding' };

/** Validates a Binding regardless of its Pod. Throws a 422. */
export function checkBinding({ target: { kind = '', name: nodeName = '' } = {} }: Binding, name: string): void {
  const at = path('target');
  const errors: FieldError[] = [];
  if (kind !== '' && kind !== 'Node') {
    errors.push(fieldError.notSupported(at.child('kind'), kind, ['Node', '<empty>']));
  }
  if (nodeName === '') errors.push(fieldError.required(at.child('name')));
  if (errors.length > 0) throw ApiError.invalid({ group: '', kind: 'Binding' }, name, errors);
}

/**
 * Returns the Pod with the node, the annotations and the labels of the Binding, which replace those of the Pod.
 * Throws a 409 if the Pod cannot be bound: of two schedulers that bind it, the second one gets this error.
 */
export function bindPod(pod: Pod, binding: Binding, now: string): Pod {
  const { spec = {} } = pod;
  const name = pod.metadata.name ?? '';
  const refuse = (message: string) => ApiError.conflict(podBindings, name, message);
  const { uid, resourceVersion, annotations, labels } = binding.metadata;
  if (uid && uid !== pod.metadata.uid) {
    throw refuse(`Precondition failed: UID in precondition: ${uid}, UID in object meta: ${pod.metadata.uid ?? ''}`);
  }
  if (resourceVersion && resourceVersion !== pod.metadata.resourceVersion) {
    throw refuse(
      `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${pod.metadata.resourceVersion ?? ''}`,
    );
  }
  if (pod.metadata.deletionTimestamp) throw refuse(`pod ${name} is being deleted, cannot be assigned to a host`);
  if (spec.nodeName) throw refuse(`pod ${name} is already assigned to node "${spec.nodeName}"`);
  if (spec.schedulingGates?.length) throw refuse(`pod ${name} has non-empty .spec.schedulingGates`);

  const { nominatedNodeName: _nominated, ...status } = pod.status ?? {};
  const scheduled: PodCondition = {
    type: 'PodScheduled',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: now,
  };
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      ...(annotations && { annotations: { ...pod.metadata.annotations, ...annotations } }),
      ...(labels && { labels: { ...pod.metadata.labels, ...labels } }),
    },
    spec: { ...spec, nodeName: binding.target?.name },
    status: { ...status, conditions: withCondition(status.conditions ?? [], scheduled) },
  };
}

/** Replaces the condition of the same type in its place, or adds the condition. */
function withCondition(conditions: readonly PodCondition[], condition: PodCondition): PodCondition[] {
  if (!conditions.some(({ type }) => type === condition.type)) return [...conditions, condition];
  return conditions.map((each) => (each.type === condition.type ? condition : each));
}

/** Writes the bound Pod without the validation of an update, which rejects a change of nodeName, and counts no generation. */
export const bindingSubresource: ViewSubresource = {
  type: 'view',
  verbs: ['update'],
  view: (pod) => pod,
  put: (_pod, bound) => bound,
  keepsGeneration: true,
};

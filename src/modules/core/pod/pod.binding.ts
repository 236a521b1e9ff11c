import { ApiError } from '../../../machinery/api-error.js';
import { fieldError, path, type FieldError } from '../../../machinery/field-error.js';
import { asFields, asItems, asText } from '../../../machinery/fields.js';
import type { KubeObject } from '../../../machinery/kube-object.js';
import type { ViewSubresource } from '../../../registry/definition/resource-definition.js';

const podBindings = { group: '', resource: 'pods/binding' };

/** What is wrong with a binding itself, whatever pod it is for. */
export function checkBinding(binding: KubeObject, name: string): void {
  const target = asFields(binding['target']);
  const at = path('target');
  const errors: FieldError[] = [];
  const kind = asText(target['kind']);
  if (kind !== '' && kind !== 'Node') {
    errors.push(fieldError.notSupported(String(at.child('kind')), kind, ['Node', '<empty>']));
  }
  if (asText(target['name']) === '') errors.push(fieldError.required(String(at.child('name'))));
  if (errors.length > 0) throw ApiError.invalid({ group: '', kind: 'Binding' }, name, errors);
}

/**
 * The pod on the node that a scheduler chose. A pod is bound once: of two schedulers, the second one is told.
 * Annotations of the binding go over to the pod, and labels that it does not have.
 */
export function bindPod(pod: KubeObject, binding: KubeObject, now: string): KubeObject {
  const name = pod.metadata.name ?? '';
  const spec = asFields(pod['spec']);
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
  if (asText(spec['nodeName']) !== '') {
    throw refuse(`pod ${name} is already assigned to node "${asText(spec['nodeName'])}"`);
  }
  if (asItems(spec['schedulingGates']).length > 0) throw refuse(`pod ${name} has non-empty .spec.schedulingGates`);

  const { nominatedNodeName: _nominated, ...status } = asFields(pod['status']);
  const others = asItems(status['conditions']).filter((condition) => condition['type'] !== 'PodScheduled');
  const scheduled = { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: now };
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      ...(annotations && { annotations: { ...pod.metadata.annotations, ...annotations } }),
      ...(labels && { labels: { ...labels, ...pod.metadata.labels } }),
    },
    spec: { ...spec, nodeName: asFields(binding['target'])['name'] },
    status: { ...status, conditions: [...others, scheduled] },
  };
}

/** Writes the bound pod as it is: the rules of an ordinary update forbid just this change. */
export const bindingSubresource: ViewSubresource = {
  type: 'view',
  verbs: ['update'],
  view: (pod) => pod,
  put: (_pod, bound) => bound,
};

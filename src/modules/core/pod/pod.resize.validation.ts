import type { Container, Pod, PodStatus } from '../../../catalog/types/core.v1.js';
import { deepEqual } from '../../../machinery/deep-equal.js';
import { fieldError, path, type FieldError } from '../../../machinery/field-error.js';
import { qosClass } from './pod.qos.js';
import { validatePodSpec } from './pod.validation.js';

const specAt = path('spec');

/**
 * Validates a write through the resize subresource: the QoS class must stay, and only cpu and memory of containers and
 * sidecars may change.
 */
export function validateResize(pod: Pod, old: Pod, mirrorAnnotation: string): FieldError[] {
  const { spec = {} } = pod;
  const { spec: oldSpec = {}, status: oldStatus = {} } = old;
  if (old.metadata.annotations?.[mirrorAnnotation] !== undefined) return rejected('static pods cannot be resized');
  if (oldSpec.os?.name === 'windows') return rejected('windows pods cannot be resized');
  const errors = validatePodSpec(spec, specAt);
  const oldClass = oldStatus.qosClass || qosClass(old);
  if (qosClass(pod) !== oldClass) {
    errors.push(fieldError.invalid(specAt, oldClass, 'Pod QOS Class may not change as a result of resizing'));
  }
  if (!nodeCanResize(oldStatus)) {
    errors.push(fieldError.forbidden(specAt, 'Pod running on node without support for resize'));
  }
  for (const list of ['initContainers', 'containers'] as const) {
    const oldContainers = oldSpec[list] ?? [];
    (spec[list] ?? []).forEach((container, index) => {
      errors.push(...validateContainerResize(container, oldContainers[index] ?? {}, list, index));
    });
  }
  return errors;
}

const rejected = (message: string): FieldError[] => [fieldError.forbidden('', message)];

/** True unless the kubelet reports no resources of a running container, as old kubelets do. */
function nodeCanResize({ containerStatuses = [] }: PodStatus): boolean {
  const running = containerStatuses.find(({ state }) => state?.running !== undefined);
  return running === undefined || running.resources !== undefined;
}

function validateContainerResize(
  container: Container,
  old: Container,
  list: 'containers' | 'initContainers',
  index: number,
): FieldError[] {
  const { resources = {} } = container;
  const { resources: oldResources = {} } = old;
  const containerAt = specAt.child(list).index(index);
  const isInit = list === 'initContainers';
  if (isInit && old.restartPolicy !== 'Always') {
    if (deepEqual(resources, oldResources) && deepEqual(container.resizePolicy, old.resizePolicy)) return [];
    return [fieldError.forbidden(specAt, 'resources for non-sidecar init containers are immutable')];
  }
  const errors = (['requests', 'limits'] as const).flatMap((field) => {
    const amounts = resources[field] ?? {};
    if (Object.keys(oldResources[field] ?? {}).every((name) => Object.hasOwn(amounts, name))) return [];
    return [fieldError.forbidden(containerAt.child('resources', field), `resource ${field} cannot be removed`)];
  });
  if (deepEqual(immutablePart(container), immutablePart(old))) return errors;
  const resizable = isInit
    ? 'only cpu and memory resources for init or sidecar containers'
    : 'only cpu and memory resources';
  return [...errors, fieldError.forbidden(isInit ? containerAt : specAt, `${resizable} are mutable`)];
}

/** Returns the fields of a container that the resize subresource writes and that must not change. */
function immutablePart({ resources: { limits, requests, claims = [] } = {}, resizePolicy = [] }: Container): object {
  return { limits: otherResources(limits), requests: otherResources(requests), claims, resizePolicy };
}

const otherResources = (amounts: Readonly<Record<string, string>> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(amounts).filter(([name]) => name !== 'cpu' && name !== 'memory'));

import { deepEqual } from '../../../machinery/deep-equal.js';
import { fieldError, path, type FieldError } from '../../../machinery/field-error.js';
import { asFields, asItems, asText, isSet, type Fields } from '../../../machinery/fields.js';
import type { KubeObject } from '../../../machinery/kube-object.js';
import { qosClass } from './pod.qos.js';
import { validatePodSpec } from './pod.validation.js';

const specAt = path('spec');

/** A Pod that grows or shrinks keeps its QoS class, and only the cpu and memory of its containers change. */
export function validateResize(pod: KubeObject, old: KubeObject, mirrorAnnotation: string): FieldError[] {
  const spec = asFields(pod['spec']);
  const oldSpec = asFields(old['spec']);
  if (old.metadata.annotations?.[mirrorAnnotation] !== undefined) return wholly('static pods cannot be resized');
  if (asFields(oldSpec['os'])['name'] === 'windows') return wholly('windows pods cannot be resized');
  const errors = validatePodSpec(spec, specAt);
  const before = asText(asFields(old['status'])['qosClass']) || qosClass(old);
  if (qosClass(pod) !== before) {
    errors.push(fieldError.invalid('spec', before, 'Pod QOS Class may not change as a result of resizing'));
  }
  if (!nodeCanResize(old)) errors.push(fieldError.forbidden('spec', 'Pod running on node without support for resize'));
  for (const list of ['initContainers', 'containers'] as const) {
    const was = asItems(oldSpec[list]);
    asItems(spec[list]).forEach((container, index) => {
      errors.push(...validateContainerResize(container, was[index] ?? {}, list, index));
    });
  }
  return errors;
}

const wholly = (message: string): FieldError[] => [fieldError.forbidden('', message)];

/** A node that reports no resources of a container that runs is too old to resize it. */
function nodeCanResize(pod: KubeObject): boolean {
  const running = asItems(asFields(pod['status'])['containerStatuses']).find(({ state }) =>
    isSet(asFields(state)['running']),
  );
  return running === undefined || isSet(running['resources']);
}

function validateContainerResize(
  container: Fields,
  old: Fields,
  list: 'containers' | 'initContainers',
  index: number,
): FieldError[] {
  const at = specAt.child(list).index(index).child('resources');
  const [resources, before] = [asFields(container['resources']), asFields(old['resources'])];
  const isInit = list === 'initContainers';
  if (isInit && old['restartPolicy'] !== 'Always') {
    if (deepEqual(resources, before) && deepEqual(container['resizePolicy'], old['resizePolicy'])) return [];
    return [fieldError.forbidden('spec', 'resources for non-sidecar init containers are immutable')];
  }
  const errors = (['requests', 'limits'] as const)
    .filter((field) => Object.keys(asFields(before[field])).some((name) => !hasAmount(resources[field], name)))
    .map((field) => fieldError.forbidden(String(at.child(field)), `resource ${field} cannot be removed`));
  if (deepEqual(withoutComputing(container), withoutComputing(old))) return errors;
  const where = isInit ? String(specAt.child(list).index(index)) : 'spec';
  const of = isInit ? 'only cpu and memory resources for init or sidecar containers' : 'only cpu and memory resources';
  return [...errors, fieldError.forbidden(where, `${of} are mutable`)];
}

const hasAmount = (amounts: unknown, name: string): boolean => Object.hasOwn(asFields(amounts), name);

/** The parts of a container that a resize can name and not change. */
function withoutComputing({ resources, resizePolicy }: Fields): Fields {
  const { limits, requests, claims } = asFields(resources);
  const rest = (amounts: unknown) =>
    Object.fromEntries(Object.entries(asFields(amounts)).filter(([name]) => name !== 'cpu' && name !== 'memory'));
  return {
    limits: rest(limits),
    requests: rest(requests),
    claims: asItems(claims),
    resizePolicy: asItems(resizePolicy),
  };
}

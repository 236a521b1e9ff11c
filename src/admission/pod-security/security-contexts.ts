import { asFields, asText, type Fields } from '../../machinery/fields.js';
import { containersOf } from '../pods/containers.js';
import type { PodView } from './check.js';
import { containers } from './text.js';

export interface NamedContext {
  readonly name: string;
  readonly context: Fields;
}

export const podContext = ({ spec }: PodView): Fields => asFields(spec['securityContext']);

export function containerContexts({ spec }: PodView): NamedContext[] {
  return containersOf(spec).map((container) => ({
    name: asText(container['name']),
    context: asFields(container['securityContext']),
  }));
}

/** Who sets something that a rule refuses: `pod and container "a"`. Undefined when nobody does. */
export function settersOf(pod: PodView, isRefused: (context: Fields) => boolean): string | undefined {
  const names = namesOf(pod, isRefused);
  const setters = [...(isRefused(podContext(pod)) ? ['pod'] : []), ...(names.length > 0 ? [containers(names)] : [])];
  return setters.length === 0 ? undefined : setters.join(' and ');
}

export function namesOf(pod: PodView, matches: (context: Fields) => boolean): string[] {
  return containerContexts(pod)
    .filter(({ context }) => matches(context))
    .map(({ name }) => name);
}

/** The contexts of the Pod and of its containers, for collecting values. */
export function allContexts(pod: PodView): Fields[] {
  return [podContext(pod), ...containerContexts(pod).map(({ context }) => context)];
}

export const isWindows = ({ spec }: PodView): boolean => asFields(spec['os'])['name'] === 'windows';

/** Users in such a Pod are others than those of the node, the first one too. */
export const hasOwnUsers = ({ spec }: PodView): boolean => spec['hostUsers'] === false;

import type { PodSecurityContext, SecurityContext } from '../../catalog/types/core.v1.js';
import { containersOf } from '../../pods/containers.js';
import type { PodView } from './check.js';
import { quotedContainers } from './text.js';

interface NamedContext {
  readonly name: string;
  readonly context: SecurityContext;
}

export const podContext = ({ spec }: PodView): PodSecurityContext => spec.securityContext ?? {};

export function containerContexts({ spec }: PodView): NamedContext[] {
  return containersOf(spec).map(({ name = '', securityContext = {} }) => ({ name, context: securityContext }));
}

/** Names the Pod and the containers whose securityContext is refused: `pod and container "a"`. Undefined if none is. */
export function settersOf(pod: PodView, isRefused: (context: SecurityContext) => boolean): string | undefined {
  const names = namesOf(pod, isRefused);
  const setters = [
    ...(isRefused(podContext(pod)) ? ['pod'] : []),
    ...(names.length > 0 ? [quotedContainers(names)] : []),
  ];
  return setters.length === 0 ? undefined : setters.join(' and ');
}

/** Returns the names of containers whose securityContext matches. */
export function namesOf(pod: PodView, matches: (context: SecurityContext) => boolean): string[] {
  return containerContexts(pod)
    .filter(({ context }) => matches(context))
    .map(({ name }) => name);
}

/** Returns the securityContext of the Pod and of its containers. */
export function allContexts(pod: PodView): SecurityContext[] {
  return [podContext(pod), ...containerContexts(pod).map(({ context }) => context)];
}

export const isWindows = ({ spec }: PodView): boolean => spec.os?.name === 'windows';

/** True for a Pod in a user namespace of its own, where root is not root of the node. */
export const hasUserNamespace = ({ spec }: PodView): boolean => spec.hostUsers === false;

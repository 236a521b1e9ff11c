import type { NamingProfile } from '../../config/naming-profile.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { asFields, asItems } from '../../machinery/fields.js';
import type { GroupResource } from '../../machinery/gvk.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { PodView } from './check.js';

const paths: Readonly<Record<string, readonly string[]>> = {
  '/podtemplates': ['template'],
  '/replicationcontrollers': ['spec', 'template'],
  'apps/daemonsets': ['spec', 'template'],
  'apps/deployments': ['spec', 'template'],
  'apps/replicasets': ['spec', 'template'],
  'apps/statefulsets': ['spec', 'template'],
  'batch/cronjobs': ['spec', 'jobTemplate', 'spec', 'template'],
  'batch/jobs': ['spec', 'template'],
};

/** What a controller makes its Pods from; undefined for kinds that make none. */
export function templateOf({ group, resource }: GroupResource, object: KubeObject): PodView | undefined {
  const steps = paths[`${group}/${resource}`];
  if (!steps) return undefined;
  const template = steps.reduce<unknown>((at, field) => asFields(at)[field], object);
  // A controller may be without one; what is not there violates nothing.
  return template === undefined || template === null ? undefined : viewOf(asFields(template));
}

export function viewOf(pod: { readonly metadata?: unknown; readonly spec?: unknown }): PodView {
  return {
    annotations: asFields(asFields(pod.metadata)['annotations']) as Record<string, string>,
    spec: asFields(pod.spec),
  };
}

/**
 * True if the update makes the Pod run something else: another image, another container, or other security profiles.
 * Images count although no rule reads them, so that a Pod that is no longer allowed cannot be put to another use.
 */
export function isSignificantUpdate(pod: PodView, old: PodView, naming: NamingProfile): boolean {
  if (!deepEqual(profileAnnotations(pod, naming), profileAnnotations(old, naming))) return true;
  return ['containers', 'initContainers', 'ephemeralContainers'].some((list) => {
    const [after, before] = [asItems(pod.spec[list]), asItems(old.spec[list])];
    if (list !== 'ephemeralContainers' && after.length !== before.length) return true;
    const images = new Map(before.map(({ name, image }) => [name, image]));
    return after.some(({ name, image }) => !images.has(name) || images.get(name) !== image);
  });
}

function profileAnnotations({ annotations }: PodView, naming: NamingProfile): Record<string, string> {
  const about = ['container.apparmor.security.beta', 'seccomp.security.alpha', 'container.seccomp.security.alpha'];
  const prefixes = about.map((subdomain) => naming.label('', subdomain));
  return Object.fromEntries(
    Object.entries(annotations).filter(([key]) => prefixes.some((prefix) => key.startsWith(prefix))),
  );
}

import type { NamingProfile } from '../../config/naming-profile.js';
import { asFields } from '../../machinery/fields.js';
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

/** What a Pod that is there may change of itself, and that these rules look at. */
export function profileAnnotations({ annotations }: PodView, naming: NamingProfile): Record<string, string> {
  const about = ['container.apparmor.security.beta', 'seccomp.security.alpha', 'container.seccomp.security.alpha'];
  const prefixes = about.map((subdomain) => naming.label('', subdomain));
  return Object.fromEntries(
    Object.entries(annotations).filter(([key]) => prefixes.some((prefix) => key.startsWith(prefix))),
  );
}

import type { DaemonSet, Deployment, ReplicaSet, StatefulSet } from '../../catalog/types/apps.v1.js';
import type { CronJob, Job } from '../../catalog/types/batch.v1.js';
import type { PodTemplate, PodTemplateSpec, ReplicationController } from '../../catalog/types/core.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import type { GroupResource } from '../../machinery/gvk.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { containerLists } from '../../pods/containers.js';
import type { PodView } from './check.js';

const templates: Readonly<Record<string, (object: KubeObject) => PodTemplateSpec | undefined>> = {
  '/podtemplates': ({ template }: PodTemplate) => template,
  '/replicationcontrollers': ({ spec }: ReplicationController) => spec?.template,
  'apps/daemonsets': ({ spec }: DaemonSet) => spec?.template,
  'apps/deployments': ({ spec }: Deployment) => spec?.template,
  'apps/replicasets': ({ spec }: ReplicaSet) => spec?.template,
  'apps/statefulsets': ({ spec }: StatefulSet) => spec?.template,
  'batch/cronjobs': ({ spec }: CronJob) => spec?.jobTemplate?.spec?.template,
  'batch/jobs': ({ spec }: Job) => spec?.template,
};

export const resourcesWithTemplates: readonly GroupResource[] = Object.keys(templates).map((path) => {
  const [group = '', resource = ''] = path.split('/');
  return { group, resource };
});

/** True for a kind of workload that has a Pod template. */
export function hasTemplate({ group, resource }: GroupResource): boolean {
  return Object.hasOwn(templates, `${group}/${resource}`);
}

/** Returns the Pod template of a workload; undefined for kinds without one, and if the template is absent. */
export function templateOf({ group, resource }: GroupResource, object: KubeObject): PodView | undefined {
  const template = templates[`${group}/${resource}`]?.(object);
  return template && viewOf(template);
}

export function viewOf({ metadata = {}, spec = {} }: PodTemplateSpec): PodView {
  return { annotations: metadata.annotations ?? {}, spec };
}

/**
 * True if the update changes the image or the security profiles of a container, or adds one. No rule reads images, but a
 * Pod that violates the policy by now must not be changed to run something else.
 */
export function isSignificantUpdate(pod: PodView, old: PodView, naming: NamingProfile): boolean {
  if (!deepEqual(profileAnnotations(pod, naming), profileAnnotations(old, naming))) return true;
  return containerLists.some((list) => {
    const [after, before] = [pod.spec[list] ?? [], old.spec[list] ?? []];
    if (list !== 'ephemeralContainers' && after.length !== before.length) return true;
    const images = new Map(before.map(({ name, image }) => [name, image]));
    return after.some(({ name, image }) => !images.has(name) || images.get(name) !== image);
  });
}

function profileAnnotations({ annotations }: PodView, naming: NamingProfile): Record<string, string> {
  const subdomains = ['container.apparmor.security.beta', 'seccomp.security.alpha', 'container.seccomp.security.alpha'];
  const prefixes = subdomains.map((subdomain) => naming.label('', subdomain));
  return Object.fromEntries(
    Object.entries(annotations).filter(([key]) => prefixes.some((prefix) => key.startsWith(prefix))),
  );
}

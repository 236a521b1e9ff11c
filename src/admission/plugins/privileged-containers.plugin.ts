import type { Pod } from '../../catalog/types/core.v1.js';
import { ApiError } from '../../machinery/api-error.js';
import { fieldError, path } from '../../machinery/field-error.js';
import { onlyPods } from '../matching.js';
import { defineAdmissionPlugin, type AdmissionAttributes } from '../admission-plugin.js';
import { containerLists, containersOf } from '../../pods/containers.js';

/** Refuses privileged containers with --allow-privileged=false. kube-apiserver has this check in the validation of Pods. */
export const noPrivilegedContainers = defineAdmissionPlugin({
  name: 'NoPrivilegedContainers',
  runs: 'always',
  make: ({ allowPrivileged }) => (allowPrivileged ? undefined : { resources: onlyPods, validate }),
});

function validate({ resource, subresource, object, operation, name }: AdmissionAttributes): void {
  if (resource.group !== '' || resource.resource !== 'pods' || !object) return;
  // Only these writes add containers. A Pod that was created before the flag was set may still be updated.
  if (`${operation} ${subresource}` !== 'CREATE ' && subresource !== 'ephemeralcontainers') return;
  const { spec = {} }: Pod = object;
  const errors = containerLists.flatMap((list) =>
    containersOf(spec, [list]).flatMap(({ securityContext }, index) => {
      if (securityContext?.privileged !== true) return [];
      const at = path('spec').child(list).index(index).child('securityContext', 'privileged');
      return [fieldError.forbidden(at, 'disallowed by cluster policy')];
    }),
  );
  if (errors.length > 0) throw ApiError.invalid({ group: '', kind: 'Pod' }, name, errors);
}

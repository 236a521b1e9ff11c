import type { Pod } from '../../catalog/types/core.v1.js';
import { ApiError } from '../../machinery/api-error.js';
import { fieldError, path } from '../../machinery/field-error.js';
import { defineAdmissionPlugin, type AdmissionAttributes } from '../admission-plugin.js';
import { onlyPods, writtenPodOf } from '../matching.js';
import { containerLists, containersOf } from '../../pods/containers.js';

/** Sets imagePullPolicy Always, so that the registry checks the pull secrets even if the node has the image already. */
export const alwaysPullImages = defineAdmissionPlugin({
  name: 'AlwaysPullImages',
  runs: 'if enabled',
  make: () => ({ resources: onlyPods, admit, validate }),
});

function admit(attributes: AdmissionAttributes): void {
  const pod = writtenPodOf(attributes);
  if (!pod) return;
  const old: Pod | undefined = attributes.old;
  const knownImages = new Set(containersOf(old?.spec ?? {}).map(({ image = '' }) => image));
  const isNew = (image = '') => attributes.operation === 'CREATE' || !knownImages.has(image);
  const { spec = {} } = pod;
  for (const container of containersOf(spec)) {
    // The old Pod has no container with a new image, so that this one is not shared with it.
    if (isNew(container.image)) container.imagePullPolicy = 'Always';
  }
  for (const { image } of spec.volumes ?? []) {
    if (image?.reference !== undefined && isNew(image.reference)) image.pullPolicy = 'Always';
  }
}

function validate(attributes: AdmissionAttributes): void {
  const pod = writtenPodOf(attributes);
  if (!pod || attributes.operation !== 'CREATE') return;
  const errors = containerLists.flatMap((list) =>
    containersOf(pod.spec ?? {}, [list]).flatMap(({ imagePullPolicy = '' }, index) => {
      const at = path('spec').child(list).index(index).child('imagePullPolicy');
      return imagePullPolicy === 'Always' ? [] : [fieldError.notSupported(at, imagePullPolicy, ['Always'])];
    }),
  );
  if (errors.length > 0) throw ApiError.invalid({ group: '', kind: 'Pod' }, attributes.name, errors);
}

import { ApiError } from '../../machinery/api-error.js';
import { fieldError, path } from '../../machinery/field-error.js';
import { asFields, asItems, asText } from '../../machinery/fields.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission-plugin.js';
import { isAbout } from '../matching.js';
import { containersOf } from '../pods/containers.js';

/** Whoever runs an image must be allowed to pull it, also on a node that has it already. */
export const alwaysPullImages: AdmissionPlugin = {
  name: 'AlwaysPullImages',
  admit(attributes) {
    if (!concerns(attributes)) return;
    const { object, old } = attributes;
    const knownImages = new Set(containersOf(old?.['spec']).map(({ image }) => asText(image)));
    const isNew = (image: unknown) => attributes.operation === 'CREATE' || !knownImages.has(asText(image));
    for (const container of containersOf(object!['spec'])) {
      if (isNew(container['image'])) container['imagePullPolicy'] = 'Always';
    }
    for (const { image } of asItems(asFields(object!['spec'])['volumes'])) {
      const source = asFields(image);
      if (isNew(source['reference']) && source['reference'] !== undefined) source['pullPolicy'] = 'Always';
    }
  },
  validate(attributes) {
    if (!concerns(attributes) || attributes.operation !== 'CREATE') return;
    const spec = asFields(attributes.object!['spec']);
    const errors = (['initContainers', 'containers', 'ephemeralContainers'] as const).flatMap((list) =>
      asItems(spec[list]).flatMap(({ imagePullPolicy }, index) =>
        imagePullPolicy === 'Always'
          ? []
          : [
              fieldError.notSupported(
                String(path('spec').child(list).index(index).child('imagePullPolicy')),
                asText(imagePullPolicy),
                ['Always'],
              ),
            ],
      ),
    );
    if (errors.length > 0) throw ApiError.invalid({ group: '', kind: 'Pod' }, attributes.name, errors);
  },
};

function concerns(attributes: AdmissionAttributes): boolean {
  return isAbout(attributes, '', 'pods', ['CREATE', 'UPDATE']) && attributes.object !== undefined;
}

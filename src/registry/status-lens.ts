import type { KubeObject } from '../machinery/kube-object.js';
import type { LensSubresource } from './resource-definition.js';

type Options = Pick<LensSubresource, 'validate' | 'prepare'> & {
  /** Whether labels and annotations may be written through status, as most built-in kinds allow. */
  readonly keepsMetadata?: boolean;
  /** Labels alone that may not. */
  readonly keepsLabels?: boolean;
};

/** The status of an object as its own resource: spec stays as it is, whatever is submitted. */
export function statusLens(options: Options = {}): LensSubresource {
  return {
    type: 'lens',
    verbs: ['get', 'patch', 'update'],
    view: (object) => object,
    unreached: [
      'spec',
      ...(options.keepsMetadata ? ['metadata'] : []),
      ...(options.keepsLabels ? ['metadata/labels'] : []),
    ],
    put(object, view) {
      const { ownerReferences: _owners, ...metadata } = view.metadata;
      if (options.keepsLabels) {
        if (object.metadata.labels) metadata.labels = object.metadata.labels;
        else delete metadata.labels;
      }
      const merged: KubeObject = {
        ...object,
        metadata: options.keepsMetadata
          ? { ...object.metadata }
          : {
              ...metadata,
              ...(object.metadata.ownerReferences && { ownerReferences: object.metadata.ownerReferences }),
            },
      };
      if (view.metadata.resourceVersion !== undefined) merged.metadata.resourceVersion = view.metadata.resourceVersion;
      if (view['status'] === undefined) delete merged['status'];
      else merged['status'] = view['status'];
      return merged;
    },
    ...(options.prepare && { prepare: options.prepare }),
    ...(options.validate && { validate: options.validate }),
  };
}

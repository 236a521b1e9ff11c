import type { KubeObject } from '../machinery/kube-object.js';
import type { ViewSubresource } from './resource-definition.js';

type Options = Pick<ViewSubresource, 'validate' | 'prepare'> & {
  /** True if labels and annotations cannot be written through status. Most built-in kinds allow it. */
  readonly keepsMetadata?: boolean;
  /** True if only labels cannot be written through status. */
  readonly keepsLabels?: boolean;
};

/** The status subresource: a write changes status and leaves spec unchanged. */
export function statusSubresource(options: Options = {}): ViewSubresource {
  return {
    type: 'view',
    verbs: ['get', 'patch', 'update'],
    view: (object) => object,
    resetFields: [
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

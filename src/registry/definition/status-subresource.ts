import type { FieldError } from '../../machinery/field-error.js';
import type { KubeObject, ObjectWithStatus } from '../../machinery/kube-object.js';
import type { Mutable } from '../../machinery/mutable.js';
import type { Steps } from '../../std/steps.js';
import type { ViewSubresource } from './resource-definition.js';
import type { StrategyContext } from './strategy.js';

interface StatusOptions<T extends KubeObject> {
  readonly prepare?: (object: Mutable<T>, old: Mutable<T>, context: StrategyContext) => void;
  readonly validate?: (object: T, old: T, context: StrategyContext) => FieldError[];
  /** Replaces validate for objects whose validation takes long. */
  readonly validateInSteps?: (object: T, old: T, context: StrategyContext) => Steps<FieldError[]>;
  /** True if labels and annotations cannot be written through status. Most built-in kinds allow it. */
  readonly keepsMetadata?: boolean;
  /** True if only labels cannot be written through status. */
  readonly keepsLabels?: boolean;
}

/** The status subresource: a write changes status and leaves spec unchanged. `T` is the type of the kind, see Strategy. */
export function statusSubresource<T extends KubeObject>(options: StatusOptions<T> = {}): ViewSubresource {
  const { prepare, validate, validateInSteps } = options as StatusOptions<KubeObject>;
  return {
    type: 'view',
    verbs: ['get', 'patch', 'update'],
    view: (object) => object,
    resetFields: [
      'spec',
      ...(options.keepsMetadata ? ['metadata'] : []),
      ...(options.keepsLabels ? ['metadata/labels'] : []),
    ],
    put(object, view: ObjectWithStatus) {
      const { ownerReferences: _owners, ...metadata } = view.metadata;
      if (options.keepsLabels) {
        if (object.metadata.labels) metadata.labels = object.metadata.labels;
        else delete metadata.labels;
      }
      const merged: ObjectWithStatus = {
        ...object,
        metadata: options.keepsMetadata
          ? { ...object.metadata }
          : {
              ...metadata,
              ...(object.metadata.ownerReferences && { ownerReferences: object.metadata.ownerReferences }),
            },
      };
      if (view.metadata.resourceVersion !== undefined) merged.metadata.resourceVersion = view.metadata.resourceVersion;
      if (view.status === undefined) delete merged.status;
      else merged.status = view.status;
      return merged;
    },
    ...(prepare && { prepare }),
    ...(validate && { validate }),
    ...(validateInSteps && { validateInSteps }),
  };
}

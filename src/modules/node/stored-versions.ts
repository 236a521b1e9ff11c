import type * as v1 from '../../catalog/types/node.v1.js';
import type * as v1alpha1 from '../../catalog/types/node.v1alpha1.js';
import type { StoredVersion } from '../../registry/definition/resource-definition.js';

/** In v1alpha1 the fields of a RuntimeClass are in a spec. */
export const storedRuntimeClasses = (group: string): readonly StoredVersion[] => [
  {
    group,
    version: 'v1alpha1',
    toHub: ({ spec, ...stored }: v1alpha1.RuntimeClass): v1.RuntimeClass => {
      const { runtimeHandler = '', ...rest } = spec ?? {};
      return { ...stored, handler: runtimeHandler, ...rest };
    },
  },
];

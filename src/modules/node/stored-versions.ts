import { asFields, asText } from '../../machinery/fields.js';
import type { StoredVersion } from '../../registry/resource-definition.js';

/** In v1alpha1 the fields of a RuntimeClass are in a spec. */
export const storedRuntimeClasses = (group: string): readonly StoredVersion[] => [
  {
    group,
    version: 'v1alpha1',
    toHub: ({ spec, ...stored }) => {
      const { runtimeHandler, ...rest } = asFields(spec);
      return { ...stored, handler: asText(runtimeHandler), ...rest };
    },
  },
];

import { fieldSetOf } from './field-set.js';

/** Fields that identify the object or that only the server writes: nobody owns them. */
export const neverOwned = fieldSetOf(
  'apiVersion',
  'kind',
  'metadata',
  'metadata/name',
  'metadata/namespace',
  'metadata/creationTimestamp',
  'metadata/selfLink',
  'metadata/uid',
  'metadata/clusterName',
  'metadata/generation',
  'metadata/managedFields',
  'metadata/resourceVersion',
);

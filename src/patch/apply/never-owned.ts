import { fieldSetOf } from './field-set.js';

/** What names an object and what only the server writes belongs to nobody. */
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

/** Parameter of an operation, independent of the OpenAPI version. */
export interface ApiParameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly type: 'string' | 'boolean' | 'integer';
}

const query = (type: ApiParameter['type'], ...names: string[]): ApiParameter[] =>
  names.map((name) => ({ name, in: 'query', type }));

export const inPath = (name: string): ApiParameter => ({ name, in: 'path', type: 'string' });
/** Path below a proxy subresource. */
export const subpath = inPath('path');

export const pretty = query('string', 'pretty');

const selecting = [
  ...query('string', 'continue', 'fieldSelector', 'labelSelector', 'resourceVersion', 'resourceVersionMatch'),
  ...query('string', 'shardSelector'),
  ...query('integer', 'limit', 'timeoutSeconds'),
  ...query('boolean', 'sendInitialEvents'),
];

export const reading = query('string', 'resourceVersion');

export const listing = [...selecting, ...query('boolean', 'allowWatchBookmarks', 'watch')];

export const writing = query('string', 'dryRun', 'fieldManager', 'fieldValidation');

export const patching = [...writing, ...query('boolean', 'force')];

export const deleting = [
  ...query('string', 'dryRun', 'propagationPolicy'),
  ...query('integer', 'gracePeriodSeconds'),
  ...query('boolean', 'ignoreStoreReadErrorWithClusterBreakingPotential', 'orphanDependents'),
];

export const deletingCollections = [...deleting, ...selecting];

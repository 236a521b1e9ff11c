export type Schema = Readonly<Record<string, unknown>>;

/** What the API machinery itself sends and takes. */
export type MetaSchema =
  | 'APIGroup'
  | 'APIGroupList'
  | 'APIResource'
  | 'APIResourceList'
  | 'APIVersions'
  | 'DeleteOptions'
  | 'FieldsV1'
  | 'GroupVersionForDiscovery'
  | 'ListMeta'
  | 'ManagedFieldsEntry'
  | 'ObjectMeta'
  | 'OwnerReference'
  | 'Patch'
  | 'Preconditions'
  | 'ServerAddressByClientCIDR'
  | 'Status'
  | 'StatusCause'
  | 'StatusDetails'
  | 'Time'
  | 'WatchEvent';

type Refer = (name: MetaSchema) => Schema;

const string = { type: 'string' };
const boolean = { type: 'boolean' };
const int64 = { type: 'integer', format: 'int64' };
const strings = { type: 'object', additionalProperties: string };
export const listOf = (items: Schema) => ({ type: 'array', items });
const said = (description: string, schema: Schema) => ({ description, ...schema });

export const apiVersion = said('The group and version that the object is written in.', string);
export const kind = said('The kind of the object, in CamelCase.', string);

const object = (properties: Readonly<Record<string, Schema>>, required: readonly string[] = []): Schema => ({
  type: 'object',
  ...(required.length > 0 && { required }),
  properties,
});

/** Those that are sent on their own and so say what they are. */
export const typedMetaSchemas: ReadonlySet<string> = new Set([
  ...['APIGroup', 'APIGroupList', 'APIResourceList', 'APIVersions', 'DeleteOptions', 'Status', 'WatchEvent'],
]);

export const metaSchemas: Readonly<Record<MetaSchema, (ref: Refer) => Schema>> = {
  APIGroup: (ref) =>
    object(
      {
        apiVersion,
        kind,
        name: string,
        preferredVersion: ref('GroupVersionForDiscovery'),
        serverAddressByClientCIDRs: listOf(ref('ServerAddressByClientCIDR')),
        versions: listOf(ref('GroupVersionForDiscovery')),
      },
      ['name', 'versions'],
    ),
  APIGroupList: (ref) => object({ apiVersion, groups: listOf(ref('APIGroup')), kind }, ['groups']),
  APIResource: () =>
    object(
      {
        categories: listOf(string),
        group: string,
        kind: string,
        name: string,
        namespaced: boolean,
        shortNames: listOf(string),
        singularName: string,
        storageVersionHash: string,
        verbs: listOf(string),
        version: string,
      },
      ['name', 'singularName', 'namespaced', 'kind', 'verbs'],
    ),
  APIResourceList: (ref) =>
    object({ apiVersion, groupVersion: string, kind, resources: listOf(ref('APIResource')) }, [
      'groupVersion',
      'resources',
    ]),
  APIVersions: (ref) =>
    object(
      {
        apiVersion,
        kind,
        serverAddressByClientCIDRs: listOf(ref('ServerAddressByClientCIDR')),
        versions: listOf(string),
      },
      ['versions', 'serverAddressByClientCIDRs'],
    ),
  DeleteOptions: (ref) =>
    object({
      apiVersion,
      dryRun: said('`All`: nothing is changed.', listOf(string)),
      gracePeriodSeconds: said('How long the object may take to end; 0 is at once.', int64),
      ignoreStoreReadErrorWithClusterBreakingPotential: boolean,
      kind,
      orphanDependents: boolean,
      preconditions: ref('Preconditions'),
      propagationPolicy: said('What becomes of dependents: `Orphan`, `Background` or `Foreground`.', string),
    }),
  FieldsV1: () => ({ type: 'object' }),
  GroupVersionForDiscovery: () => object({ groupVersion: string, version: string }, ['groupVersion', 'version']),
  ListMeta: () =>
    object({
      continue: said('Asks for the next page; empty on the last one.', string),
      remainingItemCount: said('How many objects are on later pages.', int64),
      resourceVersion: said('The moment that the list shows; a watch goes on from it.', string),
      selfLink: string,
    }),
  ManagedFieldsEntry: (ref) =>
    object({
      apiVersion: string,
      fieldsType: string,
      fieldsV1: ref('FieldsV1'),
      manager: string,
      operation: string,
      subresource: string,
      time: ref('Time'),
    }),
  ObjectMeta: (ref) =>
    object({
      annotations: said('Notes that tools leave; nothing selects by them.', strings),
      creationTimestamp: ref('Time'),
      deletionGracePeriodSeconds: said('How long the object may take to end once it is being deleted.', int64),
      deletionTimestamp: ref('Time'),
      finalizers: {
        ...said('The object is gone only when all of these have been taken away.', listOf(string)),
        'x-kubernetes-list-type': 'set',
        'x-kubernetes-patch-strategy': 'merge',
      },
      generateName: said('The server makes a name that begins with this, when none is given.', string),
      generation: said('Counts changes of what is wanted of the object.', int64),
      labels: said('What selectors select by.', strings),
      managedFields: {
        ...said('Who set which fields.', listOf(ref('ManagedFieldsEntry'))),
        'x-kubernetes-list-type': 'atomic',
      },
      name: said('Names the object among those of its kind in its namespace.', string),
      namespace: said('Where the name is one of a kind; empty for what belongs to the cluster.', string),
      ownerReferences: {
        ...said('When all of these are gone, so is the object.', listOf(ref('OwnerReference'))),
        'x-kubernetes-list-map-keys': ['uid'],
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-patch-merge-key': 'uid',
        'x-kubernetes-patch-strategy': 'merge',
      },
      resourceVersion: said('Changes with every write; a write that names another one is refused.', string),
      selfLink: string,
      uid: said('Tells the object from others that had its name before.', string),
    }),
  OwnerReference: () => ({
    ...object(
      { apiVersion: string, blockOwnerDeletion: boolean, controller: boolean, kind: string, name: string, uid: string },
      ['apiVersion', 'kind', 'name', 'uid'],
    ),
    'x-kubernetes-map-type': 'atomic',
  }),
  Patch: () => ({ type: 'object' }),
  Preconditions: () => object({ resourceVersion: string, uid: string }),
  ServerAddressByClientCIDR: () =>
    object({ clientCIDR: string, serverAddress: string }, ['clientCIDR', 'serverAddress']),
  Status: (ref) =>
    object({
      apiVersion,
      code: { type: 'integer', format: 'int32' },
      details: ref('StatusDetails'),
      kind,
      message: string,
      metadata: ref('ListMeta'),
      reason: string,
      status: said('`Success` or `Failure`.', string),
    }),
  StatusCause: () => object({ field: string, message: string, reason: string }),
  StatusDetails: (ref) =>
    object({
      causes: listOf(ref('StatusCause')),
      group: string,
      kind: string,
      name: string,
      retryAfterSeconds: { type: 'integer', format: 'int32' },
      uid: string,
    }),
  Time: () => ({ type: 'string', format: 'date-time' }),
  WatchEvent: () => object({ object: { type: 'object' }, type: string }, ['type', 'object']),
};

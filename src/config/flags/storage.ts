import { accepted, used, type FlagTopic } from '../flag.js';

export const storageBackends = ['embedded', 'memory', 'etcd3'] as const;

export const storageFlags: FlagTopic = {
  title: 'Storage',
  flags: [
    used(
      'data-dir',
      'string',
      '.keelson',
      'storage.dataDirectory',
      'directory of the embedded store and of generated files',
    ),
    used(
      'storage-backend',
      'string',
      'etcd3',
      'storage.backend',
      'where objects are kept; etcd3 whenever --etcd-servers is given',
      { choices: storageBackends },
    ),
    used(
      'cache-check-interval',
      'duration',
      '5m',
      'storage.cacheCheckIntervalMs',
      'how often the cache is compared with the store; 0 never does',
    ),
    accepted('delete-collection-workers', 'int', '1', 'deletions that one DeleteCollection makes at a time'),
    accepted(
      'enable-garbage-collector',
      'bool',
      'true',
      'keep deletions waiting for dependents; always on here (see --controllers)',
    ),
    accepted('encryption-provider-config', 'string', '', 'file that says how stored objects are encrypted', {
      refused: 'encryption at rest is not available, and objects would be stored in the clear',
    }),
    accepted(
      'encryption-provider-config-automatic-reload',
      'bool',
      'false',
      'read the encryption file again when it changes',
    ),
    used('etcd-cafile', 'string', '', 'storage.etcd.caFile', 'certificate authority of the etcd servers'),
    used('etcd-certfile', 'string', '', 'storage.etcd.certFile', 'client certificate for etcd'),
    used(
      'etcd-compaction-interval',
      'duration',
      '5m0s',
      'storage.etcd.compactionIntervalMs',
      'how often the store forgets history older than that; 0 leaves compaction to others',
    ),
    accepted('etcd-count-metric-poll-period', 'duration', '1m0s', 'how often objects are counted for the metrics'),
    accepted('etcd-db-metric-poll-interval', 'duration', '30s', 'how often the size of the database is asked for'),
    used(
      'etcd-healthcheck-timeout',
      'duration',
      '2s',
      'storage.etcd.healthcheckTimeoutMs',
      'how long /livez waits for the store',
    ),
    used('etcd-keyfile', 'string', '', 'storage.etcd.keyFile', 'key of the client certificate for etcd'),
    used('etcd-prefix', 'string', '/registry', 'storage.etcd.prefix', 'what all keys in the store begin with'),
    used(
      'etcd-readycheck-timeout',
      'duration',
      '2s',
      'storage.etcd.readycheckTimeoutMs',
      'how long /readyz waits for the store',
    ),
    used('etcd-servers', 'list', '', 'storage.etcd.servers', 'etcd servers (scheme://host:port)'),
    accepted('etcd-servers-overrides', 'list', '', 'other etcd servers for single resources', {
      refused: 'all resources are kept in one store, and those in other ones would not be found',
    }),
    accepted('lease-reuse-duration-seconds', 'int', '60', 'how long an etcd lease is shared by new objects'),
    used(
      'storage-media-type',
      'string',
      'application/json',
      'storage.mediaType',
      'encoding of stored objects: application/json or application/vnd.kubernetes.protobuf; both are read, and kinds ' +
        'without a protobuf form are stored as JSON',
    ),
    accepted('default-watch-cache-size', 'int', '100', 'size of watch caches', { deprecated: true }),
    accepted('watch-cache', 'bool', 'true', 'serve reads from memory; always on here'),
    accepted('watch-cache-sizes', 'list', '', 'resources without a watch cache'),
  ],
};

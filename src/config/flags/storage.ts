import { accepted, used, type FlagTopic } from '../flag.js';
import { storageBackends } from '../storage-backends.js';

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
    used('storage-backend', 'string', 'etcd3', 'storage.backend', 'store of objects; etcd3 if --etcd-servers is set', {
      choices: storageBackends,
    }),
    used(
      'cache-check-interval',
      'duration',
      '5m',
      'storage.cacheCheckIntervalMs',
      'interval at which the cache is compared with the store; 0 disables the check',
    ),
    accepted('delete-collection-workers', 'int', '1', 'number of concurrent deletions in one deletecollection request'),
    accepted(
      'enable-garbage-collector',
      'bool',
      'true',
      'support foreground and orphan deletion; always enabled here (see --controllers)',
    ),
    used(
      'encryption-provider-config',
      'string',
      '',
      'storage.encryption.configFile',
      'EncryptionConfiguration with the providers that encrypt objects in the store (docs/encryption.md)',
    ),
    used(
      'encryption-provider-config-automatic-reload',
      'bool',
      'false',
      'storage.encryption.reloads',
      'use a changed file of --encryption-provider-config without a restart',
    ),
    used('etcd-cafile', 'string', '', 'storage.etcd.caFile', 'CA certificates that verify the etcd servers'),
    used('etcd-certfile', 'string', '', 'storage.etcd.certFile', 'client certificate for etcd'),
    used(
      'etcd-compaction-interval',
      'duration',
      '5m0s',
      'storage.etcd.compactionIntervalMs',
      'age up to which past states of objects are kept, in every store, and interval at which etcd is compacted; 0 disables ' +
        'compaction by this server (docs/history.md)',
    ),
    accepted('etcd-count-metric-poll-period', 'duration', '1m0s', 'interval at which objects are counted for metrics'),
    accepted('etcd-db-metric-poll-interval', 'duration', '30s', 'interval at which the size of the database is read'),
    used(
      'etcd-healthcheck-timeout',
      'duration',
      '2s',
      'storage.etcd.healthcheckTimeoutMs',
      'timeout of the store in the check etcd of /livez, /healthz and /readyz',
    ),
    used('etcd-keyfile', 'string', '', 'storage.etcd.keyFile', 'key of the client certificate for etcd'),
    used('etcd-prefix', 'string', '/registry', 'storage.etcd.prefix', 'prefix of all keys in the store'),
    used(
      'etcd-readycheck-timeout',
      'duration',
      '2s',
      'storage.etcd.readycheckTimeoutMs',
      'timeout of the store in the check etcd-readiness of /readyz',
    ),
    used('etcd-servers', 'list', '', 'storage.etcd.servers', 'URLs of etcd servers (scheme://host:port)'),
    accepted('etcd-servers-overrides', 'list', '', 'etcd servers of single resources', {
      refused: 'this server stores all resources in one etcd; objects in other ones would not be found',
    }),
    accepted('lease-reuse-duration-seconds', 'int', '60', 'number of seconds that new objects share an etcd lease'),
    used(
      'storage-media-type',
      'string',
      'application/json',
      'storage.mediaType',
      'encoding of stored objects: application/json or application/vnd.kubernetes.protobuf; both can be read, and kinds ' +
        'without a protobuf schema are stored as JSON',
    ),
    accepted('default-watch-cache-size', 'int', '100', 'size of watch caches', { deprecated: true }),
    accepted('watch-cache', 'bool', 'true', 'serve reads from the watch cache; always enabled here'),
    accepted('watch-cache-sizes', 'list', '', 'resources without a watch cache'),
  ],
};

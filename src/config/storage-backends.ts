/**
 * Storage backends that --storage-backend can name. Their definitions are in src/storage/backends.ts, which compiles only
 * if it has each of these names, and no others.
 */
export const storageBackends = ['embedded', 'memory', 'etcd3'] as const;

export type StorageBackendName = (typeof storageBackends)[number];

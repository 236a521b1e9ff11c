/** The owner record again, for people to read, and to know a living owner without touching its database. */
export const ownerFile = 'owner';

export const dataFile = 'data.mdb';
export const lockFile = 'lock.mdb';

/** All files of a store's directory. */
export const storeFiles: readonly string[] = [dataFile, lockFile, ownerFile];

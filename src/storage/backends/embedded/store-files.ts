/** A copy of the owner record: readable for people, and checked without opening the database. */
export const ownerFile = 'owner';

export const dataFile = 'data.mdb';
export const lockFile = 'lock.mdb';

/** All files in a store's directory. */
export const storeFiles: readonly string[] = [dataFile, lockFile, ownerFile];

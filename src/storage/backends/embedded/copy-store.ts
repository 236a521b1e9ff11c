import { constants } from 'node:fs';
import { chmod, copyFile, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { open } from 'lmdb';
import { silentLogger } from '../../../std/logger.js';
import { noRevision, type Revision } from '../../../machinery/revision.js';
import type { Compare, Write } from '../../kv-store.js';
import { StorageError } from '../../storage-error.js';
import { EmbeddedStore } from './embedded-store.js';
import { checkFile } from './file-check.js';
import { storageError } from './lmdb-errors.js';
import { metaKeys } from './records.js';
import { dataFile, lockFile } from './store-files.js';

const lmdbOptions = {
  encoding: 'binary',
  keyEncoding: 'binary',
  noSubdir: false,
  maxReaders: 512,
  overlappingSync: false,
} as const;

/**
 * Copies the store in a directory, which another process may be using, as it is at one moment. The target must not exist.
 * A file system with shared extents copies nothing: the clone of the file is as after a power failure, which loses no
 * acknowledged write. Elsewhere LMDB copies the pages of a read transaction, which delays no writer.
 */
export async function copyStore(source: string, target: string): Promise<'cloned' | 'copied'> {
  try {
    checkFile(join(source, dataFile), { isReadOnly: true, warn: () => undefined });
    await mkdir(target, { mode: 0o700 });
    const isClone = await cloned(join(source, dataFile), join(target, dataFile));
    if (!isClone) {
      const database = open({ ...lmdbOptions, path: source, readOnly: true });
      try {
        await database.backup(target, false);
      } finally {
        await database.close();
      }
    }
    // The copy belongs to no process.
    const copy = open<Buffer, Buffer>({ ...lmdbOptions, path: target } as Parameters<typeof open>[0]);
    await copy.remove(metaKeys.owner);
    await copy.close();
    for (const name of [dataFile, lockFile]) await chmod(join(target, name), 0o600);
    return isClone ? 'cloned' : 'copied';
  } catch (error) {
    throw storageError(source, error);
  }
}

async function cloned(source: string, target: string): Promise<boolean> {
  try {
    await copyFile(source, target, constants.COPYFILE_FICLONE_FORCE);
    return true;
  } catch {
    await rm(target, { force: true });
    return false;
  }
}

/** Writes the state at a revision as the latest one of a store that no process uses. */
export async function revertStore(directory: string, revision: Revision): Promise<void> {
  const store = await EmbeddedStore.open({ directory, historyMs: 0, logger: silentLogger });
  try {
    const [then, now] = [await store.range('', { revision }), await store.range('')];
    const compares: Compare[] = [];
    const writes: Write[] = [];
    const left = new Map(now.items.map((item) => [item.key, item.modRevision]));
    for (const { key, value, modRevision, summary } of then.items) {
      const current = left.get(key);
      left.delete(key);
      if (current === modRevision) continue;
      compares.push({ key, modRevision: current ?? noRevision });
      writes.push({ type: 'put', key, value, summarize: () => summary });
    }
    for (const [key, modRevision] of left) {
      compares.push({ key, modRevision });
      writes.push({ type: 'delete', key });
    }
    if (writes.length === 0) return;
    const { succeeded } = await store.txn(compares, writes);
    if (!succeeded) throw new StorageError('locked', `${directory} is being changed by another program`);
  } finally {
    await store.close();
  }
}

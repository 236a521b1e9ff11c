import { randomBytes } from 'node:crypto';
import { closeSync, constants, fsyncSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { chmod, copyFile, mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { open, type RootDatabase, type RootDatabaseOptionsWithPath, type Transaction } from 'lmdb';
import type { Logger } from '../../../std/logger.js';
import { makePrivateDirectory, makePrivateFile } from '../../../std/private-paths.js';
import { StorageError } from '../../storage-error.js';
import { checkFile } from './file-check.js';
import { currentOwner, decodeOwner, encodeOwner, isAlive, type Owner } from './owner.js';
import { formatVersion, metaKeys, olderFormats, type Bounds } from './records.js';
import { RecordCopies } from './record-copies.js';
import { dataFile, lockFile, ownerFile } from './store-files.js';
import { storageError } from './lmdb-errors.js';

/** A change of one record; without a value the record is removed. */
export interface Change {
  readonly key: Buffer;
  readonly value: Buffer | undefined;
}

type Database = RootDatabase<Buffer, Buffer>;

/** A reference-counted snapshot. */
export class View {
  private users = 1;
  constructor(
    private readonly database: Database,
    private readonly copies: RecordCopies,
    private readonly transaction: Transaction,
    private readonly released: () => void,
  ) {}

  /** Returns a copy of the record, which stays valid. */
  get(key: Buffer): Buffer | undefined {
    return this.database.get(key, { transaction: this.transaction });
  }

  has(key: Buffer): boolean {
    return this.count({ start: key, end: Buffer.concat([key, zero]) }) > 0;
  }

  *scan(bounds: Bounds): Generator<{ key: Buffer; value: Buffer }, void, void> {
    yield* this.copies.whileScanning(this.database.getRange({ ...bounds, transaction: this.transaction }));
  }

  *keys(bounds: Bounds): Generator<Buffer, void, void> {
    yield* this.database.getKeys({ ...bounds, transaction: this.transaction });
  }

  first(bounds: Bounds): { key: Buffer; value: Buffer } | undefined {
    for (const entry of this.database.getRange({ ...bounds, limit: 1, transaction: this.transaction })) return entry;
    return undefined;
  }

  lastKey(bounds: Bounds): Buffer | undefined {
    const range = { start: bounds.end, end: bounds.start, reverse: true, limit: 1, transaction: this.transaction };
    for (const key of this.database.getKeys(range)) return key;
    return undefined;
  }

  count(bounds: Bounds): number {
    return this.database.getKeysCount({ ...bounds, transaction: this.transaction });
  }

  /** Returns the key `offset` places after the first one. */
  keyAfter(bounds: Bounds, offset: number): Buffer | undefined {
    for (const key of this.database.getKeys({ ...bounds, offset, limit: 1, transaction: this.transaction })) return key;
    return undefined;
  }

  retain(): this {
    this.users++;
    return this;
  }

  release(): void {
    this.users--;
    if (this.users > 0) return;
    this.transaction.done();
    this.released();
  }
}

/**
 * An LMDB environment used by this process alone. Adds ownership, durability, snapshots and error codes.
 *
 * lmdb's `overlappingSync` is off, so a commit is LMDB's own: pages are written and synced, then the meta page is
 * written through a syncing descriptor, then the commit is visible. No read returns data that a power failure could
 * lose.
 */
export class EmbeddedFile {
  /** A snapshot of the last commit: all reads of a tick agree with each other and with the store's revision. */
  view: View;
  private viewsInUse = 0;
  private isRetired = false;

  private constructor(
    private readonly directory: string,
    private readonly database: Database,
    private readonly copies: RecordCopies,
    /** The first eight bytes of the owner record. Every commit requires them unchanged; undefined if read-only. */
    private readonly token: number | undefined,
  ) {
    this.view = this.latestView();
  }

  static open(directory: string, logger: Logger): EmbeddedFile {
    const path = resolve(directory);
    const copies = new RecordCopies();
    const database = openDatabase(path, copies, logger);
    try {
      const file = new EmbeddedFile(path, database, copies, claim(path, database));
      writeFileSync(join(path, ownerFile), encodeOwner(currentOwner()), { mode: 0o600 });
      return file;
    } catch (error) {
      void database.close();
      throw storageError(path, error);
    }
  }

  /** Opens an existing file that no living process owns, without writing to it. */
  static openReadOnly(directory: string, logger: Logger): EmbeddedFile {
    const path = resolve(directory);
    refuseIfOwnerFileAlive(path);
    return EmbeddedFile.openToRead(path, logger, (database) => {
      const holder = database.get(metaKeys.owner);
      if (holder) refuseIfAlive(path, decodeOwner(holder.subarray(8)));
    });
  }

  /** Opens an existing file to read and to copy it, which another process may be using. */
  static openToCopy(directory: string, logger: Logger): EmbeddedFile {
    return EmbeddedFile.openToRead(resolve(directory), logger);
  }

  private static openToRead(path: string, logger: Logger, check?: (database: Database) => void): EmbeddedFile {
    const copies = new RecordCopies();
    const database = openFileToRead(path, copies, logger);
    try {
      checkFormat(path, database, { isReadOnly: true });
      check?.(database);
      return new EmbeddedFile(path, database, copies, undefined);
    } catch (error) {
      void database.close();
      throw storageError(path, error);
    }
  }

  /**
   * Copies the file as it is at one moment, which the view is not after. The copy belongs to no process. The target must not
   * exist. A file system with shared extents copies nothing: the clone of the file is as after a power failure, which loses no
   * acknowledged write. Elsewhere LMDB copies the pages of a read transaction, which delays no writer.
   */
  async copyTo(target: string): Promise<'cloned' | 'copied'> {
    try {
      // Another name than the target's, so that a part of a copy is not taken for a store.
      const partial = `${target}.partial`;
      await mkdir(partial, { mode: 0o700 });
      const isClone = await isCloned(join(this.directory, dataFile), join(partial, dataFile));
      if (!isClone) await this.database.backup(partial, false);
      const copy = openLmdb(partial, new RecordCopies());
      await copy.remove(metaKeys.owner);
      await copy.close();
      for (const name of [dataFile, lockFile]) await chmod(join(partial, name), 0o600);
      await rename(partial, target);
      return isClone ? 'cloned' : 'copied';
    } catch (error) {
      throw storageError(target, error);
    }
  }

  /** Closes a file that was opened for reading once the last view is released. */
  retire(): void {
    this.isRetired = true;
    this.view.release();
  }

  /** Writes all changes or none, and resolves when they are durable. Does not change the view. */
  async commit(changes: readonly Change[]): Promise<void> {
    const { token } = this;
    if (token === undefined) throw new StorageError('unavailable', `${this.directory} was opened for reading only`);
    let isOurs: boolean;
    try {
      const committed = this.database.ifVersion(metaKeys.owner, token, () => {
        for (const { key, value } of changes) void (value ? this.database.put(key, value) : this.database.remove(key));
      });
      // lmdb creates a second promise of the commit in its own immediate; if it rejects unobserved, the process ends.
      setImmediate(() => void this.database.committed.then(nothing, nothing));
      isOurs = await committed;
    } catch (error) {
      const { commitError } = error as { commitError?: Promise<unknown> };
      const cause: unknown = commitError ? await commitError.then(nothing, (reason: unknown) => reason) : error;
      throw storageError(this.directory, cause);
    }
    if (!isOurs) throw new StorageError('locked', `${this.directory} was taken over by another process`);
  }

  /** Moves the view to the last commit. */
  refresh(): void {
    const old = this.view;
    this.view = this.latestView();
    old.release();
  }

  /** No view may be in use. */
  async close(): Promise<void> {
    this.view.release();
    if (this.token === undefined) return this.database.close();
    try {
      await this.commit([{ key: metaKeys.owner, value: undefined }]);
      rmSync(join(this.directory, ownerFile), { force: true });
    } catch {
      // If the owner record cannot be removed, for instance on a full disk, the next process sees that this one is
      // dead.
    }
    await this.database.close();
  }

  private latestView(): View {
    this.database.resetReadTxn();
    this.viewsInUse++;
    return new View(this.database, this.copies, this.database.useReadTransaction(), () => {
      this.viewsInUse--;
      if (this.isRetired && this.viewsInUse === 0) void this.database.close();
    });
  }
}

async function isCloned(source: string, target: string): Promise<boolean> {
  try {
    await copyFile(source, target, constants.COPYFILE_FICLONE_FORCE);
    return true;
  } catch {
    await rm(target, { force: true });
    return false;
  }
}

function openFileToRead(path: string, copies: RecordCopies, logger: Logger): Database {
  try {
    const file = join(path, dataFile);
    if (!statSync(file, { throwIfNoEntry: false })?.size)
      throw new StorageError('unavailable', `${path} holds no store`);
    checkFile(file, { isReadOnly: true, warn: (message, fields) => logger.warn(message, fields) });
    return openLmdb(path, copies, { readOnly: true });
  } catch (error) {
    throw storageError(path, error);
  }
}

/** Address space for a file that grows: beyond it, lmdb maps the file again, and keeps the old map and its pages until the end. */
const mapBytes = 64 * 1024 ** 3;
/** The same for processes with few addresses. */
const mapBytesMin = 256 * 1024 * 1024;

function openLmdb(path: string, copies: RecordCopies, more: { readonly readOnly?: true } = {}): Database {
  const options = {
    path,
    encoding: 'binary',
    encoder: copies,
    keyEncoding: 'binary',
    overlappingSync: false,
    noSubdir: false,
    // A reader is a view in use: one for each commit made during a long range read.
    maxReaders: 512,
    mapSize: isAddressSpaceLimited() ? mapBytesMin : mapBytes,
    ...more,
  };
  return open<Buffer, Buffer>(options as RootDatabaseOptionsWithPath);
}

/** Returns true if `ulimit -v` is set, or the system is not known: lmdb crashes if the map does not fit. */
function isAddressSpaceLimited(): boolean {
  try {
    return !/^Max address space +unlimited/m.test(readFileSync('/proc/self/limits', 'latin1'));
  } catch {
    return process.platform !== 'darwin';
  }
}

function openDatabase(path: string, copies: RecordCopies, logger: Logger): Database {
  try {
    makePrivateDirectory(path);
    const file = join(path, dataFile);
    const isNew = statSync(file, { throwIfNoEntry: false }) === undefined;
    refuseIfOwnerFileAlive(path);
    if (!isNew) checkFile(file, { isReadOnly: false, warn: (message, fields) => logger.warn(message, fields) });
    // LMDB would create the files readable for all users; it accepts empty ones as new.
    for (const name of [dataFile, lockFile]) makePrivateFile(join(path, name));
    const database = openLmdb(path, copies);
    if (isNew) {
      syncDirectory(path);
      syncDirectory(dirname(path));
    }
    return database;
  } catch (error) {
    throw storageError(path, error);
  }
}

function refuseIfOwnerFileAlive(path: string): void {
  let name: Buffer;
  try {
    name = readFileSync(join(path, ownerFile));
  } catch {
    return;
  }
  refuseIfAlive(path, decodeOwner(name));
}

/** Writes the owner record unless a living process owns the database. Atomic by LMDB's write lock. */
function claim(path: string, database: Database): number {
  const token = randomBytes(6).readUIntBE(0, 6);
  database.transactionSync(() => {
    checkFormat(path, database);
    const holder = database.get(metaKeys.owner);
    if (holder) refuseIfAlive(path, decodeOwner(holder.subarray(8)));
    // lmdb compares versions as doubles in native byte order.
    const version = Buffer.from(Float64Array.of(token).buffer);
    void database.put(metaKeys.owner, Buffer.concat([version, encodeOwner(currentOwner())]));
  });
  return token;
}

function refuseIfAlive(path: string, owner: Owner): void {
  if (!isAlive(owner)) return;
  const who = owner.pid === process.pid ? `this process (pid ${owner.pid})` : `the process with pid ${owner.pid}`;
  throw new StorageError('locked', `${path} is in use by ${who}; one process may use a directory at a time`);
}

function checkFormat(path: string, database: Database, { isReadOnly } = { isReadOnly: false }): void {
  const stored = database.get(metaKeys.format);
  if (stored === undefined) {
    // The first start writes the format before anything else, so entries without it are from another program.
    if (database.getKeysCount({ limit: 1 }) > 0) {
      throw new StorageError(
        'unavailable',
        `${path} holds an LMDB database of another program; choose another --data-dir`,
      );
    }
  } else if (stored.toString() === String(formatVersion)) {
    return;
  } else if (!olderFormats.some((older) => stored.toString() === String(older))) {
    throw new StorageError(
      'unavailable',
      `${path} was written in format ${stored.toString()}; this version of the server knows ${formatVersion}`,
    );
  }
  if (!isReadOnly) void database.put(metaKeys.format, Buffer.from(String(formatVersion)));
}

/** Syncs a directory, without which a new file may be lost. */
function syncDirectory(path: string): void {
  const directory = openSync(path, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

const zero = Buffer.alloc(1);
const nothing = () => undefined;

import { chmodSync, closeSync, existsSync, lstatSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Files and directories that only the user of this process may access, regardless of the umask. */

const othersRights = 0o077;

/** 'exposed': group or others have access, and it cannot be removed, as on a mounted Secret or another user's path. */
export type Access = 'absent' | 'private' | 'tightened' | 'exposed';

/**
 * Removes the permissions of group and others. Leaves symbolic links unchanged, since their target belongs to someone
 * else.
 */
export function tighten(path: string): Access {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return 'absent';
  if (process.platform === 'win32' || found.isSymbolicLink() || (found.mode & othersRights) === 0) return 'private';
  try {
    chmodSync(path, found.mode & 0o700);
    return 'tightened';
  } catch {
    return 'exposed';
  }
}

/**
 * Creates the directory and missing parents with mode 0700; leaves existing ones unchanged. Does not use `recursive` of
 * mkdir: under /proc, where nothing can be created, Node then loops forever.
 */
export function makePrivateDirectory(path: string): void {
  try {
    mkdirSync(path, 0o700);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && statSync(path).isDirectory()) return;
    if (code !== 'ENOENT' || dirname(path) === path || existsSync(dirname(path))) throw error;
    makePrivateDirectory(dirname(path));
    makePrivateDirectory(path);
  }
}

/** Creates an empty file with mode 0600 unless it exists. */
export function makePrivateFile(path: string): void {
  const file = openSync(path, 'a', 0o600);
  closeSync(file);
}

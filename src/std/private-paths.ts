import { chmodSync, closeSync, existsSync, lstatSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Files and directories that only the user of this process may read, whatever the umask is. */

const othersRights = 0o077;

/** 'exposed': others have rights and keep them, as on a mounted Secret or a path of another user. */
export type Access = 'absent' | 'private' | 'tightened' | 'exposed';

/** Takes the rights of group and others away. A symbolic link is left alone: it leads to a file of somebody else. */
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
 * Makes the directory, and those above it that are missing, with mode 0700; one that is there is left alone. Not by
 * mkdir's own `recursive`: under /proc, where nothing can be made, Node then tries for ever.
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

/** Makes an empty file with mode 0600 unless the file is there. */
export function makePrivateFile(path: string): void {
  const file = openSync(path, 'a', 0o600);
  closeSync(file);
}

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Identifies a process beyond its pid, which may be reused: by its start time and the boot id. */
export interface Owner {
  readonly pid: number;
  readonly started: string;
  readonly boot: string;
}

export function currentOwner(): Owner {
  return { pid: process.pid, started: startOf(process.pid) ?? '', boot: bootId() };
}

export function isAlive(owner: Owner): boolean {
  return owner.boot === bootId() && startOf(owner.pid) === owner.started;
}

/** Returns the start time of a process as the system reports it; undefined if it does not exist or is a zombie. */
function startOf(pid: number): string | undefined {
  try {
    if (process.platform !== 'linux') {
      return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    }
    // "pid (name) state ppid …": the name may contain anything; the state is field 3, the start time field 22.
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function bootId(): string {
  try {
    return process.platform === 'linux' ? readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim() : '';
  } catch {
    return '';
  }
}

export const encodeOwner = (owner: Owner) => Buffer.from(`${owner.pid}\n${owner.started}\n${owner.boot}`);

export function decodeOwner(bytes: Buffer): Owner {
  const [pid, started = '', boot = ''] = bytes.toString().split('\n');
  return { pid: Number(pid), started, boot };
}

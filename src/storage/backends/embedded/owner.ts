import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A process, told apart from every later one with the same number: by its start, and by the boot it started in. */
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

/** When a process started, in the words of its system; undefined when there is none, or only a zombie of it. */
function startOf(pid: number): string | undefined {
  try {
    if (process.platform !== 'linux') {
      return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    }
    // "pid (name) state ppid …": the name may hold anything; the state is field 3, the start time field 22.
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

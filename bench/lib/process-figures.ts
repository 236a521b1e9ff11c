import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { childProcesses } from '../../scripts/child-processes.js';

// Figures of Linux for a process: user and system time of all threads, and resident memory.

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

export function cpuSeconds(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The name of the program is in parentheses, and may contain any character.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

export function residentMiB(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
  return Number(kib) / 1024;
}

interface Residence {
  /** All resident memory. */
  readonly rss: number;
  readonly anonymous: number;
  /** Pages of files, which the kernel takes back when memory is short: of programs, and of LMDB's map. */
  readonly file: number;
}

/** Resident memory in bytes, by its kind. */
export function residenceOf(pid: number): Residence {
  const text = readFileSync(`/proc/${pid}/status`, 'latin1');
  const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1]) * 1024;
  return { rss: field('VmRSS'), anonymous: field('RssAnon'), file: field('RssFile') + field('RssShmem') };
}

/** Returns the process and its children, which are the workers of a server. */
export function processesOf(pid: number): number[] {
  return [pid, ...childProcesses(pid)];
}

/** Resident memory without pages of mapped files, which the system drops when it needs memory. */
export function ownMiB(pid: number): number {
  const kib = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
  return Number(kib) / 1024;
}

/** CPU time of the whole machine. */
export function busySeconds(): number {
  const [user, nice, system, , , irq, softIrq, steal] = readFileSync('/proc/stat', 'latin1')
    .split('\n')[0]!
    .trim()
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return (user! + nice! + system! + irq! + softIrq! + steal!) / ticksPerSecond;
}

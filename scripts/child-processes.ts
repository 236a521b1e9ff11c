import { readdirSync, readFileSync } from 'node:fs';

/** Returns the children of a process, in the order in which they were started. Linux only. */
export function childProcesses(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) => {
    const pids = readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').trim();
    return pids === '' ? [] : pids.split(' ').map(Number);
  });
}

import { readFile, statfs } from 'node:fs/promises';

/** Capacity of a resource, and the part of it that is free. */
export interface Amount {
  readonly capacity: bigint;
  readonly available: bigint;
}

/** Measured amounts of the machine. An amount that cannot be read is absent. */
export interface HostAmounts {
  /** Bytes. */
  readonly memory?: Amount;
  /** Bytes of the file system of the root directory of the agent. */
  readonly storage?: Amount;
  readonly inodes?: Amount;
  /** Threads, which have process IDs too. */
  readonly processes?: Amount;
}

/** Reads the amounts. `root` replaces the directory `/` in tests. */
export async function readHostAmounts(rootDirectory: string, root = '/'): Promise<HostAmounts> {
  const [memory, processes, files] = await Promise.all([
    readMemory(root),
    readProcesses(root),
    statfs(rootDirectory, { bigint: true }).catch(() => undefined),
  ]);
  return {
    ...(memory && { memory }),
    ...(processes && { processes }),
    ...(files && {
      storage: { capacity: files.blocks * files.bsize, available: files.bavail * files.bsize },
      // Some file systems have no limit on inodes, and report 0.
      ...(files.files > 0n && { inodes: { capacity: files.files, available: files.ffree } }),
    }),
  };
}

/** MemAvailable is the kernel's estimate of memory that new programs can use without swapping. */
async function readMemory(root: string): Promise<Amount | undefined> {
  const text = await readFile(`${root}proc/meminfo`, 'utf8').catch(() => '');
  const bytesOf = (name: string) => {
    const [, kilobytes] = new RegExp(`^${name}: *(\\d{1,18}) kB$`, 'm').exec(text) ?? [];
    return kilobytes === undefined ? undefined : BigInt(kilobytes) * 1024n;
  };
  const capacity = bytesOf('MemTotal');
  const available = bytesOf('MemAvailable') ?? bytesOf('MemFree');
  return capacity === undefined || available === undefined ? undefined : { capacity, available };
}

async function readProcesses(root: string): Promise<Amount | undefined> {
  const [load, pids, threads] = await Promise.all(
    ['proc/loadavg', 'proc/sys/kernel/pid_max', 'proc/sys/kernel/threads-max'].map((path) =>
      readFile(`${root}${path}`, 'utf8').catch(() => ''),
    ),
  );
  // `0.20 0.18 0.12 1/80 11206`: 80 threads exist.
  const [, running] = /^\S+ \S+ \S+ \d+\/(\d{1,18}) /.exec(load!) ?? [];
  const limits = [pids!, threads!]
    .map((text) => text.trim())
    .filter((text) => /^\d{1,18}$/.test(text))
    .map(BigInt);
  if (running === undefined || limits.length === 0) return undefined;
  const capacity = limits.reduce((least, limit) => (limit < least ? limit : least));
  const available = capacity - BigInt(running);
  return { capacity, available: available < 0n ? 0n : available };
}

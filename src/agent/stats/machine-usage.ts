import { readFile, statfs } from 'node:fs/promises';
import type { Clock } from '../../std/clock.js';

/** The use of the machine at one time. */
export interface MachineUsage {
  readonly timeMs: number;
  /** CPU time since the machine started. */
  readonly cpuNanoseconds: number;
  /** CPU in use between this and an earlier reading; undefined for the first one. */
  readonly nanoCores: number | undefined;
  readonly memory: { readonly availableBytes: number; readonly usageBytes: number; readonly workingSetBytes: number };
  readonly swap: { readonly availableBytes: number; readonly usageBytes: number };
  readonly network: readonly NetworkCounters[];
  /** The file system of --root-dir. */
  readonly filesystem: FilesystemUse;
  readonly processes: { readonly count: number; readonly max: number };
  readonly startMs: number;
}

interface NetworkCounters {
  readonly name: string;
  readonly rxBytes: number;
  readonly rxErrors: number;
  readonly txBytes: number;
  readonly txErrors: number;
}

interface FilesystemUse {
  readonly capacityBytes: number;
  readonly availableBytes: number;
  readonly usedBytes: number;
  readonly inodes: number;
  readonly inodesFree: number;
}

/** Ticks of /proc/stat are hundredths of a second on all machines of Linux. */
const nanosecondsPerTick = 1e7;
/** Below this, the share of CPU in use is too inexact. */
const intervalMsMin = 1_000;

/** Reads /proc and the file system of a directory. */
export class Machine {
  private earlier: { readonly atMs: number; readonly cpuNanoseconds: number; readonly nanoCores?: number } | undefined;

  constructor(
    private readonly directory: string,
    private readonly clock: Clock,
  ) {}

  async usage(): Promise<MachineUsage> {
    const [stat, memory, network, loadavg, pidMax, filesystem] = await Promise.all([
      textOf('/proc/stat'),
      textOf('/proc/meminfo'),
      textOf('/proc/net/dev'),
      textOf('/proc/loadavg'),
      textOf('/proc/sys/kernel/pid_max'),
      filesystemOf(this.directory),
    ]);
    const cpuNanoseconds = cpuTicks(stat) * nanosecondsPerTick;
    return {
      timeMs: this.clock.now(),
      cpuNanoseconds,
      nanoCores: this.nanoCores(this.clock.monotonicMs(), cpuNanoseconds),
      ...memoryOf(memory),
      network: networkOf(network),
      filesystem,
      processes: { count: Number(/\/(\d+) /.exec(loadavg)?.[1] ?? 0), max: Number(pidMax) },
      startMs: Number(/^btime (\d+)$/m.exec(stat)?.[1] ?? 0) * 1_000,
    };
  }

  /** `atMs` is monotonic: the clock may be set. */
  private nanoCores(atMs: number, cpuNanoseconds: number): number | undefined {
    const { earlier } = this;
    if (earlier && atMs - earlier.atMs < intervalMsMin) return earlier.nanoCores;
    const nanoCores = earlier && ((cpuNanoseconds - earlier.cpuNanoseconds) / (atMs - earlier.atMs)) * 1_000;
    const known = nanoCores !== undefined && nanoCores >= 0 ? Math.round(nanoCores) : undefined;
    this.earlier = { atMs, cpuNanoseconds, ...(known !== undefined && { nanoCores: known }) };
    return known;
  }
}

/** Returns '' for a file that this kernel does not have. */
function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}

/** user, nice, system, irq, softirq and steal; not idle and iowait, and guests are in user. */
function cpuTicks(stat: string): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = (/^cpu +(.*)$/m.exec(stat)?.[1] ?? '')
    .split(' ')
    .map(Number);
  return user + nice + system + irq + softirq + steal;
}

function memoryOf(text: string): Pick<MachineUsage, 'memory' | 'swap'> {
  const bytes = (name: string) => Number(new RegExp(`^${name}: +(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0) * 1024;
  const total = bytes('MemTotal');
  const available = bytes('MemAvailable');
  const swapFree = bytes('SwapFree');
  return {
    memory: { availableBytes: available, usageBytes: total - bytes('MemFree'), workingSetBytes: total - available },
    swap: { availableBytes: swapFree, usageBytes: bytes('SwapTotal') - swapFree },
  };
}

/** Counters of the interfaces but the loopback one. */
function networkOf(text: string): NetworkCounters[] {
  return [...text.matchAll(/^ *([^:\n]+): *(.*)$/gm)].flatMap(([, name, values]) => {
    const [rxBytes = 0, , rxErrors = 0, , , , , , txBytes = 0, , txErrors = 0] = values!.trim().split(/ +/).map(Number);
    return name === 'lo' ? [] : [{ name: name!, rxBytes, rxErrors, txBytes, txErrors }];
  });
}

async function filesystemOf(directory: string): Promise<FilesystemUse> {
  const { bsize, blocks, bfree, bavail, files, ffree } = await statfs(directory).catch(() => statfs('/'));
  return {
    capacityBytes: blocks * bsize,
    availableBytes: bavail * bsize,
    usedBytes: (blocks - bfree) * bsize,
    inodes: files,
    inodesFree: ffree,
  };
}

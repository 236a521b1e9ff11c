import { readFile } from 'node:fs/promises';
import { arch, cpus, platform, release } from 'node:os';

/** Facts of the machine that change with a reboot at most. */
export interface HostFacts {
  readonly machineId: string;
  readonly systemUuid: string;
  readonly bootId: string;
  readonly kernelVersion: string;
  readonly osImage: string;
  /** `linux` */
  readonly operatingSystem: string;
  /** `amd64` */
  readonly architecture: string;
  readonly cpus: number;
}

/** Go's names of Node's architectures. */
const architectures: Readonly<Record<string, string>> = {
  x64: 'amd64',
  ia32: '386',
  ppc64: 'ppc64le',
  mipsel: 'mipsle',
};
const operatingSystems: Readonly<Record<string, string>> = { win32: 'windows' };

/** Reads the facts. `root` replaces the directory `/` in tests. A fact that cannot be read is an empty text. */
export async function readHostFacts(root = '/'): Promise<HostFacts> {
  const first = async (...paths: string[]) => {
    for (const path of paths) {
      const text = (await readFile(`${root}${path}`, 'utf8').catch(() => '')).trim();
      if (text !== '') return text;
    }
    return '';
  };
  const machineId = await first('etc/machine-id', 'var/lib/dbus/machine-id');
  return {
    machineId,
    systemUuid: (await first('sys/class/dmi/id/product_uuid', 'proc/device-tree/vm,uuid')) || machineId,
    bootId: await first('proc/sys/kernel/random/boot_id'),
    kernelVersion: release(),
    osImage: prettyName(await first('etc/os-release', 'usr/lib/os-release')),
    operatingSystem: nameIn(operatingSystems, platform()),
    architecture: nameIn(architectures, arch()),
    cpus: cpus().length,
  };
}

function nameIn(names: Readonly<Record<string, string>>, name: string): string {
  return Object.hasOwn(names, name) ? names[name]! : name;
}

/** Returns PRETTY_NAME of os-release, without quotes and escapes. */
function prettyName(text: string): string {
  const [, value = ''] = /^PRETTY_NAME=(.*)$/m.exec(text) ?? [];
  return value.replace(/^(["'])(.*)\1$/, '$2').replace(/\\([$"'`\\])/g, '$1') || 'Unknown';
}

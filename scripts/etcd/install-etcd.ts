import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { machineSource } from '../debian/debian-source.js';
import { unpackPackages } from '../debian/unpack-packages.js';

/** These suites have 3.5; the machine's own suite, which may have 3.4, is tried last. */
const preferredSuites = ['trixie', 'sid'];

/** Unpacks Debian's etcd-server into `folder`/<suite> and returns the path of its binary. */
export async function installEtcd(folder: string, say: (line: string) => void): Promise<string> {
  const source = machineSource();
  const failures: string[] = [];
  for (const suite of new Set([...preferredSuites, source.suite])) {
    try {
      say(`looking for etcd-server in ${source.uri} ${suite}`);
      const { root, versions } = await unpackPackages(join(folder, suite), suite, ['etcd-server']);
      const binary = join(root, 'usr/bin/etcd');
      if (!existsSync(binary)) throw new Error(`${versions.join()} contains no usr/bin/etcd`);
      const { status, stdout } = spawnSync(binary, ['--version'], { encoding: 'utf8', timeout: 10_000 });
      if (status !== 0) throw new Error(`${versions.join()} does not run here`);
      say(`${versions.join()}: ${stdout.split('\n')[0]}`);
      return binary;
    } catch (error) {
      const reason = (error as Error).message;
      failures.push(`${suite}: ${reason}`);
      say(`not from ${suite}: ${reason}`);
    }
  }
  throw new Error(`etcd could not be installed from the system's packages\n  ${failures.join('\n  ')}`);
}

import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { machineSource, withSuite } from '../etcd/debian-source.js';

const run = promisify(execFile);
const stepTimeoutMs = 180_000;

export interface GoPackages {
  /** Where `k8s.io/` lies. */
  readonly sources: string;
  /** `golang-k8s-api-dev 0.36.4-1` */
  readonly versions: readonly string[];
}

/**
 * Unpacks Debian packages of Go sources below `folder`, unless that has been done before. The system is not touched: apt
 * works on lists, cache and status of its own.
 */
export async function goPackages(folder: string, suite: string, names: readonly string[]): Promise<GoPackages> {
  const at = (name: string) => join(folder, name);
  const archives = () => (existsSync(at('download')) ? readdirSync(at('download')).filter(isArchive).sort() : []);
  if (archives().length < names.length || !existsSync(at('root'))) {
    rmSync(folder, { recursive: true, force: true });
    for (const name of ['sources', 'lists/partial', 'cache/archives/partial', 'download', 'root']) {
      mkdirSync(at(name), { recursive: true });
    }
    // apt's unprivileged user reads and writes here when we are root.
    chmodSync(folder, 0o755);
    writeFileSync(at('sources/only.sources'), withSuite(machineSource(), suite));
    const settings = {
      'Dir::Etc::SourceList': '/dev/null',
      'Dir::Etc::SourceParts': at('sources'),
      'Dir::Etc::PreferencesParts': '/dev/null',
      'Dir::State::Lists': at('lists'),
      'Dir::State::status': '/dev/null',
      'Dir::Cache': at('cache'),
      'Acquire::Languages': 'none',
      'APT::Update::Error-Mode': 'any',
      ...(process.getuid?.() === 0 && { 'APT::Sandbox::User': 'root' }),
    };
    const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
    await run('apt-get', ['-q', ...options, 'update'], { timeout: stepTimeoutMs });
    await run('apt-get', ['-q', ...options, 'download', ...names], { timeout: stepTimeoutMs, cwd: at('download') });
    for (const archive of archives()) await run('dpkg-deb', ['-x', join(at('download'), archive), at('root')]);
  }
  const versions = archives().map((archive) => {
    const [name, version] = archive.split('_');
    return `${name} ${version}`;
  });
  return { sources: at('root/usr/share/gocode/src'), versions };
}

const isArchive = (name: string) => name.endsWith('.deb');

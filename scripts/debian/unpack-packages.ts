import { execFile } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { machineSource, withSuite } from './debian-source.js';

const run = promisify(execFile);
const stepTimeoutMs = 180_000;

export interface Unpacked {
  /** Directory with the unpacked files, as below `/`. */
  readonly root: string;
  /** `etcd-server 3.5.30-2` */
  readonly versions: readonly string[];
}

/**
 * Unpacks Debian packages of one suite into `folder`, replacing it when complete. The system is not changed and root is
 * not needed: apt uses its own lists, cache and status.
 */
export async function unpackPackages(folder: string, suite: string, names: readonly string[]): Promise<Unpacked> {
  mkdirSync(dirname(folder), { recursive: true });
  // Renamed when complete, so that no other process sees half of it.
  const work = mkdtempSync(join(dirname(folder), '.unpack-'));
  try {
    const at = (name: string) => join(work, name);
    for (const name of ['sources', 'lists/partial', 'cache/archives/partial', 'download', 'root']) {
      mkdirSync(at(name), { recursive: true });
    }
    // apt's unprivileged helper needs access if we are root.
    chmodSync(work, 0o755);
    writeFileSync(at('sources/only.sources'), withSuite(machineSource(), suite));
    const settings: Readonly<Record<string, string>> = {
      'Dir::Etc::SourceList': '/dev/null',
      'Dir::Etc::SourceParts': at('sources'),
      'Dir::Etc::Preferences': '/dev/null',
      'Dir::Etc::PreferencesParts': '/dev/null',
      'Dir::State::Lists': at('lists'),
      'Dir::State::status': '/dev/null',
      'Dir::Cache': at('cache'),
      'Acquire::Languages': 'none',
      'Acquire::Retries': '1',
      'Acquire::http::Timeout': '30',
      'APT::Update::Error-Mode': 'any',
      ...(process.getuid?.() === 0 && { 'APT::Sandbox::User': 'root' }),
    };
    const options = ['-q', ...Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])];
    await step('apt-get', [...options, 'update'], work);
    await step('apt-get', [...options, 'download', ...names], at('download'));
    const archives = archivesIn(at('download'));
    if (archives.length < names.length) throw new Error(`apt-get downloaded ${archives.length} of ${names.length}`);
    for (const archive of archives) await step('dpkg-deb', ['-x', join(at('download'), archive), at('root')], work);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    renameSync(at('root'), join(folder, 'root'));
    writeFileSync(join(folder, 'versions'), archives.map((archive) => `${nameAndVersion(archive)}\n`).join(''));
    return unpackedIn(folder)!;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Returns what an earlier call unpacked into `folder`. */
export function unpackedIn(folder: string): Unpacked | undefined {
  const file = join(folder, 'versions');
  if (!existsSync(file)) return undefined;
  return { root: join(folder, 'root'), versions: readFileSync(file, 'utf8').trim().split('\n') };
}

async function step(command: string, parameters: readonly string[], cwd: string): Promise<void> {
  try {
    await run(command, parameters, { cwd, timeout: stepTimeoutMs, maxBuffer: 16 << 20 });
  } catch (error) {
    throw new Error(reasonOf(error), { cause: error });
  }
}

function archivesIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.deb'))
    .sort();
}

function nameAndVersion(archive: string): string {
  const [name, version] = archive.split('_');
  return `${name} ${decodeURIComponent(version!)}`;
}

function reasonOf(error: unknown): string {
  const { code, killed, stderr, message } = error as {
    code?: unknown;
    killed?: boolean;
    stderr?: string;
    message: string;
  };
  if (code === 'ENOENT') return `${message}: is this a Debian-like system?`;
  if (killed) return `no answer within ${stepTimeoutMs / 1000} s`;
  const complaint = (stderr ?? '').split('\n').find((line) => line.startsWith('E:'));
  return complaint ?? message.split('\n')[0] ?? 'unknown';
}

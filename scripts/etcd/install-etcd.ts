import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { machineSource, withSuite } from './debian-source.js';

const run = promisify(execFile);

/** These carry 3.5; the machine's own suite, which may carry 3.4, comes last. */
const preferredSuites = ['trixie', 'sid'];
const stepTimeoutMs = 180_000;

/**
 * Unpacks Debian's etcd-server below `folder`/<suite> and returns the path of its binary. Nothing of the system is
 * touched and root is not needed: apt works on lists, cache and status of its own, all below `folder`.
 */
export async function installEtcd(folder: string, say: (line: string) => void): Promise<string> {
  const source = machineSource();
  mkdirSync(folder, { recursive: true });
  const failures: string[] = [];
  for (const suite of new Set([...preferredSuites, source.suite])) {
    // Renamed when it is complete, so that nobody finds half of it.
    const work = mkdtempSync(join(folder, `.${suite}-`));
    try {
      say(`looking for etcd-server in ${source.uri} ${suite}`);
      const unpacked = await unpackEtcd(work, withSuite(source, suite), say);
      const home = join(folder, suite);
      rmSync(home, { recursive: true, force: true });
      renameSync(unpacked, home);
      return join(home, 'usr/bin/etcd');
    } catch (error) {
      const reason = reasonOf(error);
      failures.push(`${suite}: ${reason}`);
      say(`not from ${suite}: ${reason}`);
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  }
  throw new Error(`no etcd could be had from the system's packages\n  ${failures.join('\n  ')}`);
}

async function unpackEtcd(work: string, sourceEntry: string, say: (line: string) => void): Promise<string> {
  for (const name of ['sources', 'lists/partial', 'cache/archives/partial', 'download', 'root']) {
    mkdirSync(join(work, name), { recursive: true });
  }
  // apt's unprivileged helper reads and writes here when we are root.
  chmodSync(work, 0o755);
  writeFileSync(join(work, 'sources/only.sources'), sourceEntry);
  const privateState = [
    '-q',
    ...option('Dir::Etc::SourceList', '/dev/null'),
    ...option('Dir::Etc::SourceParts', join(work, 'sources')),
    ...option('Dir::Etc::Preferences', '/dev/null'),
    ...option('Dir::Etc::PreferencesParts', '/dev/null'),
    ...option('Dir::State::Lists', join(work, 'lists')),
    ...option('Dir::State::status', '/dev/null'),
    ...option('Dir::Cache', join(work, 'cache')),
    ...option('Acquire::Languages', 'none'),
    ...option('Acquire::Retries', '1'),
    ...option('Acquire::http::Timeout', '30'),
    ...(process.getuid?.() === 0 ? option('APT::Sandbox::User', 'root') : []),
  ];
  await step('apt-get', [...privateState, '-o', 'APT::Update::Error-Mode=any', 'update'], work);
  say('downloading');
  await step('apt-get', [...privateState, 'download', 'etcd-server'], join(work, 'download'));
  const archive = readdirSync(join(work, 'download')).find((name) => name.endsWith('.deb'));
  if (archive === undefined) throw new Error('apt-get downloaded nothing');
  const root = join(work, 'root');
  await step('dpkg-deb', ['-x', join(work, 'download', archive), root], work);
  const binary = join(root, 'usr/bin/etcd');
  if (!existsSync(binary)) throw new Error(`${archive} holds no usr/bin/etcd`);
  const { stdout } = await step(binary, ['--version'], work);
  say(`${archive}: ${stdout.split('\n')[0]}`);
  return root;
}

const option = (name: string, value: string) => ['-o', `${name}=${value}`];

async function step(command: string, parameters: readonly string[], cwd: string): Promise<{ stdout: string }> {
  return await run(command, parameters, { cwd, timeout: stepTimeoutMs, maxBuffer: 16 << 20 });
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

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/config/config-files.js';

type ProgramName = 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler';
export type Programs = Readonly<Record<ProgramName, string>>;

/** The release whose types Keelson serves. */
export const kubernetesVersionDefault = '1.36.3';
const names: readonly ProgramName[] = ['kube-controller-manager', 'kube-scheduler', 'kube-apiserver'];

export const howToGetPrograms =
  'install Go 1.26 or newer and put it on PATH, or put kube-apiserver, kube-controller-manager and kube-scheduler ' +
  'into a directory and name it in KEELSON_UPSTREAM';

/**
 * Returns the paths of the upstream programs: those in the directory KEELSON_UPSTREAM, or else those built into
 * `.cache/upstream/<version>`. Returns undefined if they are in neither and Go is not on PATH. The first build
 * downloads about 250 MB of modules and compiles for 10 to 40 minutes.
 */
export async function ensurePrograms(
  version: string,
  say: (line: string) => void,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Programs | undefined> {
  const chosen = env['KEELSON_UPSTREAM'];
  const directory = chosen ?? join(packageRoot, '.cache/upstream', version);
  const missing = names.filter((name) => !existsSync(join(directory, name)));
  if (missing.length > 0) {
    if (chosen !== undefined) throw new Error(`KEELSON_UPSTREAM is ${chosen}, which has no ${missing.join(', ')}`);
    if (spawnSync('go', ['version'], { stdio: 'ignore', env }).status !== 0) return undefined;
    await build(version, directory, say);
  }
  const paths = names.map((name) => [name, join(directory, name)] as const);
  return Object.fromEntries(paths) as unknown as Programs;
}

/**
 * Builds in a module of its own: k8s.io/kubernetes replaces its staging modules by directories that others do not have.
 */
async function build(version: string, directory: string, say: (line: string) => void): Promise<void> {
  const source = join(directory, 'source');
  mkdirSync(source, { recursive: true });
  const module = 'k8s.io/kubernetes';
  say(`downloading ${module}@v${version}`);
  const empty = 'module upstream.invalid/programs\n\ngo 1.26.0\n';
  writeFileSync(join(source, 'go.mod'), empty);
  const download = execFileSync('go', ['mod', 'download', '-json', `${module}@v${version}`], { cwd: source });
  const { GoMod: goMod } = JSON.parse(download.toString()) as { GoMod: string };
  const staging = [...readFileSync(goMod, 'utf8').matchAll(/^\t(k8s\.io\/[a-z-]+) => \.\/staging\//gm)];
  const stagingVersion = `v${version.replace(/^1\./, '0.')}`;
  const replaced = staging.map(([, name]) => `\t${name} => ${name} ${stagingVersion}\n`).join('');
  writeFileSync(
    join(source, 'go.mod'),
    `${empty}\ngodebug default=go1.26\n\nrequire ${module} v${version}\n\nreplace (\n${replaced})\n`,
  );
  const [major = '', minor = ''] = version.split('.');
  const stamp = 'k8s.io/component-base/version';
  const stamps = [`gitVersion=v${version}`, `gitMajor=${major}`, `gitMinor=${minor}`].map(
    (one) => `-X ${stamp}.${one}`,
  );
  const fresh = join(directory, 'building');
  mkdirSync(fresh, { recursive: true });
  say(`building ${names.join(', ')} v${version}; this takes 10 to 40 minutes once`);
  const child = spawn(
    'nice',
    [
      ...['-n', '19', 'go', 'build', '-mod=mod', '-buildvcs=false', `-ldflags=-s -w ${stamps.join(' ')}`],
      ...['-o', `${fresh}/`, ...names.map((name) => `${module}/cmd/${name}`)],
    ],
    { cwd: source, stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, CGO_ENABLED: '0' } },
  );
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`go build ended with ${code}`);
  for (const name of names) renameSync(join(fresh, name), join(directory, name));
  rmSync(fresh, { recursive: true });
}

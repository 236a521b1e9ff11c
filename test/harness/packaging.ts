import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { loadAll } from 'js-yaml';
import { packageRoot } from '../../src/config/config-files.js';

export const packagingPath = (...steps: readonly string[]) => join(packageRoot, 'packaging', ...steps);

/** The documents of a YAML file of packaging/. */
export function packagedDocuments<T>(...steps: readonly string[]): T[] {
  return loadAll(readFileSync(packagingPath(...steps), 'utf8')) as T[];
}

/** The path of a program on PATH, undefined without it. Reports on stderr what is then not tested. */
export function findProgram(name: string, notTested: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const found = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  if (found === undefined) process.stderr.write(`skipped: ${notTested}: ${name} is not on PATH\n`);
  return found;
}

const run = promisify(execFile);

/** Runs a program to its end; rejects with its output if it fails. Returns its stdout. */
export async function runTool(program: string, words: readonly string[], cwd = packageRoot): Promise<string> {
  try {
    return (await run(program, [...words], { cwd, maxBuffer: 64 << 20 })).stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} ${words.join(' ')} failed:\n${stdout}\n${stderr}`, { cause: error });
  }
}

/** Packs the built package as `npm publish` would, without building it again. Returns the path of the tarball. */
export async function packPackage(directory: string): Promise<string> {
  const [packed] = JSON.parse(
    await runTool('npm', ['pack', '--json', '--ignore-scripts', '--loglevel=error', `--pack-destination=${directory}`]),
  ) as { filename: string }[];
  return join(directory, packed!.filename);
}

/** Copies the production packages of this checkout into `<target>/node_modules`. */
export function copyProductionPackages(target: string): void {
  const lock = JSON.parse(readFileSync(join(packageRoot, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean; devOptional?: boolean }>;
  };
  for (const [path, { dev, devOptional }] of Object.entries(lock.packages)) {
    const isTop = path.lastIndexOf('node_modules/') === 0;
    // Optional packages for other platforms are not installed.
    if (!isTop || dev || devOptional || !existsSync(join(packageRoot, path))) continue;
    mkdirSync(dirname(join(target, path)), { recursive: true });
    cpSync(join(packageRoot, path), join(target, path), { recursive: true });
  }
}

/**
 * Installs a tarball in an empty directory: with npm if its cache has every package, otherwise with the packages of
 * this checkout. Never uses the network.
 */
export async function installTarball(tarball: string, directory: string): Promise<'npm' | 'copies'> {
  const words = ['install', tarball, '--offline', '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  const failure = await runTool('npm', words, directory).then(
    () => undefined,
    (error: Error) => error,
  );
  if (failure === undefined) return 'npm';
  process.stderr.write('npm install --offline: the npm cache lacks packages, so those of this checkout are copied\n');
  const packageDirectory = join(directory, 'node_modules/keelson');
  rmSync(join(directory, 'node_modules'), { recursive: true, force: true });
  mkdirSync(packageDirectory, { recursive: true });
  await runTool('tar', ['-xzf', tarball, '--strip-components=1', '-C', packageDirectory]);
  copyProductionPackages(directory);
  mkdirSync(join(directory, 'node_modules/.bin'), { recursive: true });
  symlinkSync('../keelson/bin/keelson', join(directory, 'node_modules/.bin/keelson'));
  return 'copies';
}

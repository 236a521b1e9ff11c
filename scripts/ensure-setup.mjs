// Installs the packages of package-lock.json and builds changed sources. Plain JavaScript without packages, since it
// runs before anything is installed. Without changes it takes some milliseconds: it compares sizes and times of files
// with the stamp of the last run. Concurrent runs wait for each other.
//
// With --serve it prepares only a server: the packages needed at run time, and the bundle, built without type checks.
// Otherwise it prepares everything that tests and tidy checks need.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const oldestNode = [20, 11];
const sourceFolders = ['src', 'scripts', 'bench', 'examples'];
const lockWaitMsMax = 15 * 60_000;

/** A failure that the user can fix; it is printed without a stack. */
export class SetupError extends Error {}

/** `scope` is 'serve' or 'all'; `install`, `build` and `bundle` can be replaced in tests. */
export async function ensureSetup({
  root,
  scope = 'all',
  install = npmInstall,
  build = compile,
  bundle = makeBundle,
  log = logToStderr,
}) {
  if (isReady(root, scope)) return;
  const release = await takeLock(root, log);
  try {
    if (!hasPackages(root, scope)) {
      // Installed development packages are kept: npm would remove them.
      const wanted = stampOf(root).scope === 'all' ? 'all' : scope;
      await install(root, log, wanted);
      writeStamp(root, { lock: lockDigest(root), scope: wanted });
    }
    // Computed before the build, so that sources edited during it are built by the next run.
    const [sources, bundled] = digestsOf(root);
    if (sources === undefined || isMade(root, scope)) return;
    log(scope === 'serve' ? 'bundling' : 'building');
    const startedMs = performance.now();
    await (scope === 'serve' ? bundle(root) : build(root));
    writeStamp(root, { ...stampOf(root), bundled, ...(scope === 'all' && { sources }) });
    log(`done in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
  } finally {
    release();
  }
}

const isReady = (root, scope) => hasPackages(root, scope) && isMade(root, scope);

function hasPackages(root, scope) {
  const stamp = stampOf(root);
  return stamp.lock === lockDigest(root) && (scope === 'serve' || stamp.scope === 'all');
}

/** True if the sources are built, or bundled for serving; also if there are no sources. */
function isMade(root, scope) {
  const [sources, bundled] = digestsOf(root);
  if (sources === undefined) return true;
  const stamp = stampOf(root);
  if (scope === 'serve') return stamp.bundled === bundled && existsSync(join(root, 'dist/bundle/main.js'));
  return stamp.sources === sources && existsSync(join(root, 'dist/.tsbuildinfo'));
}

/** Digests of all compiled sources, and of those in the bundle. */
const digestsOf = (root) => [sourceDigest(root, sourceFolders), sourceDigest(root, ['src'])];

// In node_modules, so that the stamp is removed with it.
const stampPath = (root) => join(root, 'node_modules/.ensure-setup.json');

function stampOf(root) {
  try {
    return JSON.parse(readFileSync(stampPath(root), 'utf8'));
  } catch {
    return {};
  }
}

function writeStamp(root, stamp) {
  mkdirSync(dirname(stampPath(root)), { recursive: true });
  writeFileSync(stampPath(root), JSON.stringify(stamp));
}

function lockDigest(root) {
  const file = ['package-lock.json', 'package.json'].map((name) => join(root, name)).find(existsSync);
  if (file === undefined) throw new SetupError(`there is no package.json in ${root}`);
  return digest(readFileSync(file));
}

/** Digest of names, sizes and times; undefined in an installed package, which has no sources to build. */
function sourceDigest(root, folders) {
  const config = join(root, 'tsconfig.build.json');
  if (!existsSync(config)) return undefined;
  const lines = [];
  const visit = (path) => {
    const { size, mtimeMs } = statSync(path);
    lines.push(`${path} ${size} ${mtimeMs}`);
  };
  visit(config);
  if (existsSync(join(root, 'tsconfig.json'))) visit(join(root, 'tsconfig.json'));
  const walk = (folder) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) walk(path);
      else if (/\.m?tsx?$/.test(entry.name) && !/\.(e2e-)?spec\.ts$/.test(entry.name)) visit(path);
    }
  };
  for (const folder of folders) if (existsSync(join(root, folder))) walk(join(root, folder));
  return digest(lines.sort().join('\n'));
}

const digest = (content) => createHash('sha256').update(content).digest('base64');

/** A lock file with the process id in it. A lock of a process that is gone is taken over. */
async function takeLock(root, log) {
  const path = join(root, '.cache/ensure-setup.lock');
  mkdirSync(dirname(path), { recursive: true });
  const deadline = performance.now() + lockWaitMsMax;
  let said = false;
  for (;;) {
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx' });
      return () => rmSync(path, { force: true });
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const owner = ownerOf(path);
    if (owner !== undefined && !isAlive(owner)) rmSync(path, { force: true });
    else if (performance.now() > deadline)
      throw new SetupError(`${path} is held by process ${owner}; delete it if that is wrong`);
    else if (!said) {
      log('waiting for another run');
      said = true;
    }
    await sleep(100);
  }
}

/** Returns undefined while the lock is being written or was just removed. */
function ownerOf(path) {
  try {
    return Number(readFileSync(path, 'utf8')) || undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

// Not `npm ci`: it refuses a lock file without packages for other platforms, and npm leaves those out if the registry
// has none. --no-save installs the versions of the lock file and does not change it.
async function npmInstall(root, log, scope) {
  const steps = [];
  if (!isInstalled(root, scope)) steps.push(npm(root, scope === 'serve' ? ['--omit=dev'] : []));
  if (scope === 'serve') steps.push(installBundler(root));
  if (steps.length > 0) log(scope === 'serve' ? 'installing the packages for serving' : 'installing dependencies');
  await Promise.all(steps);
}

async function npm(directory, words) {
  const save = existsSync(join(directory, 'package-lock.json')) ? ['--no-save'] : [];
  const code = await run(
    'npm',
    ['install', ...save, ...words, '--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'],
    directory,
  );
  if (code !== 0) throw new SetupError('npm install failed: see above; is the npm registry within reach?');
}

/** Installs the bundler alone into .cache/bundler, in the version of package-lock.json. */
async function installBundler(root) {
  const lock = lockedPackages(root);
  const { version } = lock['node_modules/esbuild'] ?? {};
  if (version === undefined || existsSync(join(root, 'node_modules/esbuild'))) return;
  const directory = join(root, '.cache/bundler');
  const dependencies = { esbuild: version };
  const packages = Object.entries(lock)
    .filter(([path]) => /^node_modules\/(esbuild$|@esbuild\/)/.test(path))
    .map(([path, { dev: _, ...facts }]) => [path, facts]);
  mkdirSync(directory, { recursive: true });
  const json = { name: 'bundler', version: '0.0.0', private: true, dependencies };
  const locked = { name: 'bundler', version: '0.0.0', lockfileVersion: 3, requires: true };
  writeFileSync(join(directory, 'package.json'), JSON.stringify(json));
  const entries = { '': { name: 'bundler', version: '0.0.0', dependencies }, ...Object.fromEntries(packages) };
  writeFileSync(join(directory, 'package-lock.json'), JSON.stringify({ ...locked, packages: entries }));
  if (!isInstalled(directory, 'all')) await npm(directory, []);
}

const lockedPackages = (root) => JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;

/** True if node_modules, filled by npm itself, has the packages of the lock file; optional ones may be missing. */
export function isInstalled(root, scope = 'all') {
  try {
    const wanted = Object.entries(lockedPackages(root)).filter(
      ([path, { dev, devOptional }]) => path !== '' && !(scope === 'serve' && (dev || devOptional)),
    );
    const installed = JSON.parse(readFileSync(join(root, 'node_modules/.package-lock.json'), 'utf8')).packages;
    return wanted.every(([path, { version, optional }]) =>
      installed[path] ? installed[path].version === version : optional === true,
    );
  } catch {
    return false;
  }
}

async function compile(root) {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  if (!existsSync(compiler)) throw new SetupError('typescript is not installed: run npm install without --omit=dev');
  const code = await run(process.execPath, [compiler, '-p', 'tsconfig.build.json'], root);
  if (code !== 0) throw new SetupError('the build failed: mend the errors above and run this again');
  await makeBundle(root);
}

async function makeBundle(root) {
  const bundler = join(root, 'scripts/bundle.mjs');
  if (existsSync(bundler) && (await run(process.execPath, [bundler], root)) !== 0)
    throw new SetupError('the bundle failed: mend the errors above and run this again');
}

/** Sends all output of the command to stderr: stdout belongs to the program that is started after the set-up. */
function run(command, args, cwd) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 2, 2] });
    child.on('error', (error) => reject(new SetupError(`${command} cannot be run: ${error.message}`)));
    child.on('close', resolve);
  });
}

function logToStderr(line) {
  process.stderr.write(`setup: ${line}\n`);
}

const thisFile = fileURLToPath(import.meta.url);
if (process.argv[1] !== undefined && existsSync(process.argv[1]) && realpathSync(process.argv[1]) === thisFile) {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1])) {
    logToStderr(
      `Node ${oldestNode.join('.')} or newer is needed, and this is ${process.versions.node}: install a newer one`,
    );
    process.exit(1);
  }
  const scope = process.argv.includes('--serve') ? 'serve' : 'all';
  ensureSetup({ root: dirname(dirname(thisFile)), scope }).catch((error) => {
    logToStderr(error instanceof SetupError ? error.message : error.stack);
    process.exitCode = 1;
  });
}

// Makes the package ready to run: installs what package-lock.json names, builds what changed. Plain JavaScript on Node
// alone, since it runs before anything is installed. When there is nothing to do it takes some milliseconds: it
// compares sizes and times of files with the stamp of the last run. Runs at the same time wait for each other.
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

/** A failure that the reader can mend; it is printed without a stack. */
export class SetupError extends Error {}

/** `install` and `build` do the work; tests hand in their own. */
export async function ensureSetup({ root, install = npmInstall, build = compile, log = logToStderr }) {
  if (isReady(root)) return;
  const release = await takeLock(root, log);
  try {
    if (stampOf(root).lock !== lockDigest(root)) {
      await install(root, log);
      writeStamp(root, { lock: lockDigest(root) });
    }
    const sources = sourceDigest(root);
    if (sources !== undefined && !isBuilt(root, sources)) {
      log('building');
      const startedMs = performance.now();
      await build(root);
      // The digest from before the build: what was edited meanwhile is built by the next run.
      writeStamp(root, { lock: lockDigest(root), sources });
      log(`built in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
    }
  } finally {
    release();
  }
}

function isReady(root) {
  const sources = sourceDigest(root);
  return stampOf(root).lock === lockDigest(root) && (sources === undefined || isBuilt(root, sources));
}

function isBuilt(root, sources) {
  return stampOf(root).sources === sources && existsSync(join(root, 'dist/.tsbuildinfo'));
}

// The stamp lies in node_modules, so that it goes when they go.
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

/** Of names, sizes and times; undefined in an installed package, which has no sources to build. */
function sourceDigest(root) {
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
  for (const folder of sourceFolders) if (existsSync(join(root, folder))) walk(join(root, folder));
  return digest(lines.sort().join('\n'));
}

const digest = (content) => createHash('sha256').update(content).digest('base64');

/** A file that is created or not, with the process in it: one left by a process that is gone is taken over. */
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

/** undefined while the lock is being written or has just gone. */
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

// Not `npm ci`: it refuses a lock file that lacks packages for other platforms, and npm leaves those out when the
// registry at hand has none. With --no-save the versions of the lock file are taken and the file stays as it is.
async function npmInstall(root, log) {
  if (isInstalled(root)) return;
  log('installing dependencies');
  const save = existsSync(join(root, 'package-lock.json')) ? ['--no-save'] : [];
  const code = await run('npm', ['install', ...save, '--no-audit', '--no-fund', '--loglevel=error'], root);
  if (code !== 0) throw new SetupError('npm install failed: see above; is the npm registry within reach?');
}

/** Whether npm, run by hand, has put there just what the lock file names; optional packages may be left out. */
export function isInstalled(root) {
  try {
    const read = (name) => JSON.parse(readFileSync(join(root, name), 'utf8')).packages;
    const wanted = Object.entries(read('package-lock.json')).filter(([path]) => path !== '');
    const installed = read('node_modules/.package-lock.json');
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
  const bundler = join(root, 'scripts/bundle.mjs');
  let code = await run(process.execPath, [compiler, '-p', 'tsconfig.build.json'], root);
  if (code === 0 && existsSync(bundler)) code = await run(process.execPath, [bundler], root);
  if (code !== 0) throw new SetupError('the build failed: mend the errors above and run this again');
}

/** Whatever the command prints goes to stderr: stdout belongs to what comes after the set-up. */
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
  ensureSetup({ root: dirname(dirname(thisFile)) }).catch((error) => {
    logToStderr(error instanceof SetupError ? error.message : error.stack);
    process.exitCode = 1;
  });
}

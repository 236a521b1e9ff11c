import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { packageRoot } from '../src/config/config-files.js';
import { statusCodeOfReason } from '../src/machinery/api-error.js';
import { asCommand, print } from './as-command.js';
import { readOptions } from './read-options.js';
import { differences, markersIn, missingPaths, reasonsInTable } from './tidy/checks.js';
import { commentProblems } from './tidy/comments.js';
import { duplicateTitles } from './tidy/test-titles.js';
import { unusedExports } from './tidy/unused-exports.js';

const help = `npm run tidy
node dist/scripts/tidy.js [options]

Checks the rules of the repository. Prints a line for each check, and what was found at the end. Exits with 1 if a check fails.

  --help   prints this help`;

interface Check {
  readonly name: string;
  /** Returns the findings. */
  readonly run: () => Promise<readonly string[]> | readonly string[];
}

const root = packageRoot;
const present = (names: readonly string[]) => names.filter((name) => existsSync(join(root, name)));

/** Runs a tool of node_modules; if it fails, its output is the finding. */
const tool = (name: string, bin: string, args: readonly string[]): Check => ({
  name,
  run: () =>
    new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [join(root, 'node_modules', bin), ...args], { cwd: root });
      let printed = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += String(chunk)));
      child.on('error', reject);
      child.on('close', (code) => resolve(code === 0 ? [] : [printed.trim() || `ended with code ${code}`]));
    }),
});

const checks: readonly Check[] = [
  tool('types', 'typescript/bin/tsc', ['--noEmit', '-p', 'tsconfig.json']),
  tool('lint', 'eslint/bin/eslint.js', ['.']),
  tool('format', 'prettier/bin/prettier.cjs', ['--check', '--log-level', 'warn', '.']),
  tool('layers and cycles', 'dependency-cruiser/bin/dependency-cruise.mjs', [
    ...['--config', '.dependency-cruiser.cjs', '--output-type', 'err'],
    ...present(['src', 'scripts', 'bench', 'examples']),
  ]),
  { name: 'paths in documents', run: documentedPaths },
  { name: 'documented errors', run: documentedErrors },
  { name: 'leftover markers', run: leftoverMarkers },
  { name: 'comments', run: comments },
  { name: 'test titles', run: testTitles },
  { name: 'unused exports', run: exportsWithoutImport },
];

function documentedPaths(): string[] {
  const top = ['ARCHITECTURE.md', 'README.md', 'CONTRIBUTING.md'];
  const others = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) =>
    join('docs', name),
  );
  return present([...top, ...others.filter((name) => name.endsWith('.md'))]).flatMap((name) =>
    missingPaths(readFileSync(join(root, name), 'utf8'), root, name).map((path) => `${name}: ${path} does not exist`),
  );
}

function documentedErrors(): string[] {
  const documented = reasonsInTable(readFileSync(join(root, 'docs/errors.md'), 'utf8'));
  return differences(documented, new Map<string, number>(Object.entries(statusCodeOfReason)));
}

function leftoverMarkers(): string[] {
  return findingsIn(['src', 'bin'], markersIn);
}

const sourceFolders = ['src', 'scripts', 'bench', 'test', 'examples', 'bin', 'console'];

function comments(): string[] {
  return findingsIn(sourceFolders, (source, path) => (/\.[cm]?[jt]s$/.test(path) ? commentProblems(source) : []));
}

function testTitles(): string[] {
  return findingsIn(sourceFolders, (source, path) =>
    /\.(spec|e2e-spec|contract)\.ts$/.test(path) ? duplicateTitles(source) : [],
  );
}

/** Files whose exports are for other programs, and generated ones. */
const exempt =
  /^(src\/(index|testing|client)\.ts$|src\/catalog\/(types|data)\/|examples\/|bin\/|test\/harness\/slow-first\.mjs$)/;

function exportsWithoutImport(): string[] {
  const paths = present(sourceFolders).flatMap(filesIn);
  const sources = paths.filter((path) => /\.m?[jt]s$/.test(path) && !path.endsWith('.d.mts'));
  return unusedExports(
    new Map(sources.map((path) => [path, readFileSync(join(root, path), 'utf8')])),
    (path) => !exempt.test(path),
  );
}

/** Runs a check on every file of some folders. Findings get the path of their file in front. */
function findingsIn(folders: readonly string[], check: (source: string, path: string) => readonly string[]): string[] {
  return present(folders).flatMap((folder) =>
    filesIn(folder).flatMap((path) =>
      check(readFileSync(join(root, path), 'utf8'), path).map((found) => `${path}:${found}`),
    ),
  );
}

/** Returns the paths of the files below a folder, relative to the root. */
function filesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

async function main(words: readonly string[]): Promise<number> {
  readOptions(words, {});
  const failures: string[] = [];
  const waiting = [...checks];
  const worker = async () => {
    for (let check = waiting.shift(); check; check = waiting.shift()) {
      const startedMs = performance.now();
      const findings = await check.run();
      const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
      print(`${findings.length === 0 ? 'ok    ' : 'FAILED'} ${check.name.padEnd(20)} ${seconds.padStart(5)} s`);
      if (findings.length > 0) failures.push(`\n== ${check.name} ==\n${findings.join('\n')}`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, worker));
  failures.forEach(print);
  return failures.length === 0 ? 0 : 1;
}

asCommand(import.meta.url, { help, run: main, showsStack: true });

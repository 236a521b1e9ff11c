// Bundles the command's modules, ours from their TypeScript and those of packages, into one file, and keeps what V8 compiles
// of it for a start: reading, linking and compiling two thousand small ones takes most of the start-up time. See
// docs/adr/007-start-up.md. Plain JavaScript, since it is part of the build.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
// Without development packages, scripts/ensure-setup.mjs installs the bundler into .cache.
const bundler = ['.', '.cache/bundler']
  .map((folder) => join(root, folder, 'node_modules/esbuild/lib/main.js'))
  .find((file) => existsSync(file));
if (bundler === undefined) throw new Error('esbuild is not installed: run `npm start` or `npm install`');
const { build } = (await import(pathToFileURL(bundler).href)).default;
const out = join(root, 'dist/bundle');

/**
 * Packages that are not bundled: native ones, one that reads files beside its own, and those that the sources import
 * dynamically by name, because a bundled CommonJS package loses its named exports there. It keeps the default export:
 * protobufjs is a chunk that is loaded for the first profile.
 */
const apart = ['lmdb', 'cbor-x', 'etcd3', 'prom-client'];
/** Optional packages of Nest that are not installed. */
const absent = [
  '@fastify/multipart',
  '@fastify/static',
  '@fastify/view',
  '@nestjs/microservices',
  '@nestjs/platform-express',
  '@nestjs/websockets',
  'class-transformer',
];

/**
 * Bundles the ES modules that class-validator publishes beside CommonJS, of which unused checks are left out: one of them
 * loads a library of telephone numbers, for 65 ms. Nest's own import is for a pipe that this server does not use.
 */
const classValidator = {
  name: 'class-validator',
  setup({ onResolve }) {
    const directory = join(root, 'node_modules/class-validator');
    onResolve({ filter: /^class-validator$/ }, ({ path, importer }) => {
      if (!importer.startsWith(join(root, 'src'))) return { path, external: true };
      const { module } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
      return { path: join(directory, module), sideEffects: false };
    });
  },
};

/**
 * Bundles the ES modules that @peculiar/x509 and its parts publish beside CommonJS: they keep their exports, and reading
 * the 212 files of the packages took a tenth of the CPU of a start with a new data directory.
 */
const x509 = {
  name: '@peculiar/x509',
  setup({ onResolve }) {
    onResolve({ filter: /^@peculiar\/(x509|asn1-[-a-z0-9]+)$/ }, ({ path }) => {
      const directory = join(root, 'node_modules', path);
      const { module } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
      return { path: join(directory, module) };
    });
  },
};

/**
 * Leaves the compilers of route schemas out: Fastify creates both at every start, with three copies of ajv, for routes with
 * a schema. No route of the command has one, and the start of one that had would fail.
 */
const schemaCompilers = {
  name: 'schema compilers of Fastify',
  setup({ onResolve, onLoad }) {
    const filter = /^@fastify\/(ajv-compiler|fast-json-stringify-compiler)$/;
    onResolve({ filter }, ({ path }) => ({ path, namespace: 'left-out' }));
    onLoad({ filter, namespace: 'left-out' }, ({ path }) => {
      const message = `${path} is not in the bundle; a route with a schema needs it (scripts/bundle.mjs)`;
      return { contents: `module.exports = () => () => { throw new Error(${JSON.stringify(message)}); };` };
    });
  },
};

/**
 * Creates the date formats of Nest's own loggers at their first use, not when their modules are loaded: the first one
 * reads ICU's data, for 12 ms of each start. The server has a logger of its own.
 */
const dateFormats = {
  name: 'date formats of Nest',
  setup({ onLoad }) {
    onLoad({ filter: /@nestjs[\\/]common[\\/]services[\\/](console-)?logger\.service\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      const contents = text.replace(
        /(?<=^const dateTimeFormatter = )(new Intl\.DateTimeFormat\([^)]*\));$/m,
        '{ format: (time) => $1.format(time) };',
      );
      if (contents === text) throw new Error(`${path} has no date format any more: change scripts/bundle.mjs`);
      return { contents };
    });
  },
};

const { metafile, outputFiles } = await build({
  absWorkingDir: root,
  metafile: true,
  write: false,
  entryPoints: { main: join(root, 'src/main.ts') },
  tsconfig: join(root, 'tsconfig.json'),
  outdir: out,
  bundle: true,
  // One script and no ES modules: Node can give V8 compiled code for scripts alone.
  format: 'cjs',
  supported: { 'dynamic-import': false },
  define: { 'import.meta.url': 'bundleUrl' },
  platform: 'node',
  target: 'node20',
  // A start parses what is not compiled yet, and a server keeps the text in memory: without comments and indentation it is a
  // third shorter. Short lines keep the places in stack traces.
  minifyWhitespace: true,
  lineLimit: 120,
  // No keepNames: it wraps every closure that a request creates, which nearly doubles the cost of a read. Names that
  // are not minified stay, with a number for duplicates.
  plugins: [classValidator, x509, schemaCompilers, dateFormats],
  external: [...apart, ...absent.flatMap((name) => [name, `${name}/*`])],
  banner: {
    js: [
      '(function (exports, require, module, __filename, __dirname) {',
      'const bundleUrl = require("node:url").pathToFileURL(__filename).href;',
    ].join('\n'),
  },
  footer: { js: '})' },
  logLevel: 'error',
});

// Regular expressions may have other characters than ASCII; they would double the memory of the whole text.
const text = outputFiles[0].text.replace(
  /[^\0-\x7f]/g,
  (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
);
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'main.js'), `//${createHash('sha256').update(text).digest('hex')}\n${text}`);

/** The modules in the bundle. */
const [{ inputs }] = Object.values(metafile.outputs);
const contents = Object.keys(inputs).filter((name) => inputs[name].bytesInOutput > 0);
writeFileSync(join(root, 'dist/bundle-contents.json'), JSON.stringify(contents));

// Flags in the environment are for the server that the user starts.
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('KEELSON_')));
// Compiled code is for the flags with which bin/keelson starts Node.
const { status } = spawnSync(process.execPath, ['--max-semi-space-size=32', join(root, 'scripts/compile-bundle.mjs')], {
  stdio: ['ignore', 'ignore', 'inherit'],
  env,
});
if (status !== 0) process.stderr.write('bundle: not compiled; the server works, and starts more slowly\n');

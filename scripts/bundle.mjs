// Joins the command's modules, straight from their TypeScript, ours and the packages', into a few files: reading and linking some nine hundred small
// ones is most of what starting costs. See docs/adr/007-start-up.md. Plain JavaScript, as a part of the build.
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
// Without development packages, scripts/ensure-setup.mjs puts the bundler alone into .cache.
const bundler = ['.', '.cache/bundler']
  .map((folder) => join(root, folder, 'node_modules/esbuild/lib/main.js'))
  .find((file) => existsSync(file));
if (bundler === undefined) throw new Error('esbuild is not installed: run `npm start` or `npm install`');
const { build } = (await import(pathToFileURL(bundler).href)).default;
const out = join(root, 'dist/bundle');

/**
 * Packages that stay apart: a native one, one that reads files beside its own, and all that the sources import late.
 * A bundled CommonJS package that is imported late has lost the names of what it exports.
 */
const apart = ['lmdb', 'etcd3', '@peculiar/x509', 'prom-client'];
/** What Nest would use if it were installed. */
const absent = [
  '@fastify/multipart',
  '@fastify/static',
  '@fastify/view',
  '@nestjs/microservices',
  '@nestjs/platform-express',
  '@nestjs/websockets',
];

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
await build({
  entryPoints: { main: join(root, 'src/main.ts') },
  tsconfig: join(root, 'tsconfig.json'),
  outdir: out,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // No keepNames: it wraps every closure that a request makes, which nearly doubles what a read costs. Names that are
  // not shortened stay as they are, but for a number behind those that occur twice.
  external: [...apart, ...absent.flatMap((name) => [name, `${name}/*`])],
  // CommonJS packages inside an ES module still ask for these.
  banner: {
    js: [
      "import { createRequire as bundleRequire } from 'node:module';",
      "import { dirname as bundleDirname } from 'node:path';",
      "import { fileURLToPath as bundlePath } from 'node:url';",
      'const require = bundleRequire(import.meta.url);',
      'const __filename = bundlePath(import.meta.url);',
      'const __dirname = bundleDirname(__filename);',
    ].join('\n'),
  },
  logLevel: 'error',
});

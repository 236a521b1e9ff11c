import { existsSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';

const dist = new URL('../dist/', import.meta.url);
const bundled = new URL('bundle/main.js', dist);
const separate = new URL('src/main.js', dist);
const builtAt = new URL('.tsbuildinfo', dist);

/** Runs the built program: from its bundle, which starts much faster, unless the modules were built later. */
export async function runBuilt(program) {
  const isBundled = isCurrent();
  if (!isBundled && !existsSync(separate)) {
    process.stderr.write(
      `${program}: not built yet: run \`npm start\` or \`npm run build\` in the package directory\n`,
    );
    process.exitCode = 1;
    return;
  }
  const script = isBundled ? compileBundle() : undefined;
  // Not before: V8 takes compiled code only with the flags with which it was made. See docs/adr/085-requests-die-young.md.
  setFlagsFromString('--no-allocation-site-pretenuring');
  // Most of what a start allocates stays. See docs/adr/007-start-up.md.
  setFlagsFromString('--semi-space-growth-factor=16');
  const { main } = script ? runBundle(script) : await import(separate.href);
  // A running server keeps the process; other commands return an exit code.
  const code = await main(program, process.argv.slice(2));
  if (code !== undefined) process.exitCode = code;
}

function isCurrent() {
  if (!existsSync(bundled)) return false;
  return !existsSync(builtAt) || statSync(bundled).mtimeMs >= statSync(builtAt).mtimeMs;
}

/**
 * Compiles the bundle, with the code that V8 compiled after an earlier start of the same bundle if there is any. V8 takes it
 * only if it has the same version and flags itself; otherwise it compiles the text.
 */
export function compileBundle() {
  // The bundle is ASCII: as Latin-1 it takes a byte a character.
  const text = readFileSync(bundled, 'latin1');
  return new Script(text, { filename: fileURLToPath(bundled), cachedData: compiledCode(text) });
}

export function runBundle(script) {
  const file = fileURLToPath(bundled);
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(file), module, file, dirname(file));
  return module.exports;
}

/** The first characters of a bundle, which are the digest of the rest, and the last of its compiled code. */
export const digestLength = 64;
export const compiledFile = new URL('main.compiled', bundled);

/** V8 compares the length of the text alone, so that compiled code must name the text that it belongs to. */
function compiledCode(text) {
  try {
    const bytes = readFileSync(compiledFile);
    const digest = bytes.latin1Slice(bytes.length - digestLength);
    return text.startsWith(`//${digest}\n`) ? bytes.subarray(0, -digestLength) : undefined;
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

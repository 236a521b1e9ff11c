import { existsSync, statSync } from 'node:fs';

const dist = new URL('../dist/', import.meta.url);
const bundled = new URL('bundle/main.js', dist);
const separate = new URL('src/main.js', dist);
const builtAt = new URL('.tsbuildinfo', dist);

/** Runs the built program: from its bundle, which starts much faster, unless the modules were built later. */
export async function runBuilt(program) {
  const file = isCurrent() ? bundled : separate;
  if (!existsSync(file)) {
    process.stderr.write(
      `${program}: not built yet: run \`npm start\` or \`npm run build\` in the package directory\n`,
    );
    process.exitCode = 1;
    return;
  }
  const { main } = await import(file.href);
  // A running server keeps the process; other commands return an exit code.
  const code = await main(program, process.argv.slice(2));
  if (code !== undefined) process.exitCode = code;
}

function isCurrent() {
  if (!existsSync(bundled)) return false;
  return !existsSync(builtAt) || statSync(bundled).mtimeMs >= statSync(builtAt).mtimeMs;
}

import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { killedAtExit } from '../../scripts/killed-at-exit.js';

const top = join(__dirname, '../..');
const example = join(top, 'examples/operator-memcached');
/** Go builds the packages of Kubernetes the first time. */
const goMsMax = 1_500_000;

const inherited = ['PATH', 'HOME', 'GOPROXY', 'GOFLAGS', 'GOCACHE', 'GOMODCACHE', 'GOPATH', 'GOSUMDB'];
const env = Object.fromEntries(
  inherited.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
);

interface Outcome {
  readonly code: unknown;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program under `keelson test`, for as long as it takes. */
function runSuite(folder: string, program: readonly string[]): Promise<Outcome> {
  const words = [join(top, 'bin/keelson'), 'test', '-f', join(example, 'crd.yaml'), '--', ...program];
  const options = { cwd: join(example, folder), env: { ...env, PYTHONDONTWRITEBYTECODE: '1' }, maxBuffer: 1e8 };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, words, options, (error, stdout, stderr) =>
      resolve({ code: error ? error.code : 0, stdout, stderr }),
    );
    killedAtExit(child);
  });
}

/** Defines a skipped test if something is missing, which the end of `npm test` names. */
function isMissing(language: string, what: string): boolean {
  if (what === '') return false;
  process.stderr.write(`skipped: examples/operator-memcached in ${language}: ${what} not found\n`);
  it.skip(`passes in ${language} (${what} not found)`, () => undefined);
  return true;
}

describe('the operator of examples/operator-memcached', () => {
  it('passes with node --test', async () => {
    const { code, stdout, stderr } = await runSuite('', [process.execPath, '--test']);
    expect({ code, output: code === 0 ? '' : stdout + stderr }).toEqual({ code: 0, output: '' });
    expect(stdout).toMatch(/pass 5/);
    expect(stderr).toMatch(/deployments\.apps: 3 new \(memcached-node\/owned, /);
  });

  const pythons = [process.env['KEELSON_PYTHON'] ?? 'python3', '/usr/bin/python3'];
  const python = pythons.find((path) => spawnSync(path, ['-c', 'import kubernetes']).status === 0);
  if (!isMissing('Python', python === undefined ? 'the package kubernetes (Debian: python3-kubernetes)' : '')) {
    it('passes in Python', async () => {
      const { code, stdout, stderr } = await runSuite('python', [python!, '-m', 'unittest']);
      expect({ code, output: code === 0 ? '' : stdout + stderr }).toEqual({ code: 0, output: '' });
      expect(stderr).toMatch(/Ran 5 tests/);
    });
  }

  const hasGo = spawnSync('go', ['version']).status === 0;
  if (!isMissing('Go', hasGo ? '' : 'go')) {
    const title = 'passes in Go, with envtest';
    it(
      title,
      async () => {
        const problem = await promisify(execFile)('go', ['mod', 'download'], { cwd: join(example, 'go') }).then(
          () => undefined,
          (error: Error) => error.message,
        );
        if (problem !== undefined) {
          process.stderr.write(`skipped: ${title}: its Go modules could not be had: ${problem}\n`);
          return;
        }
        const { code, stdout, stderr } = await runSuite('go', ['go', 'test', '-count=1', '-v', './...']);
        expect({ code, output: code === 0 ? '' : stdout + stderr }).toEqual({ code: 0, output: '' });
        expect(stdout.match(/^--- PASS: Test/gm)).toHaveLength(5);
      },
      goMsMax,
    );
  }
});

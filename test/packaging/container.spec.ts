import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../src/config/config-files.js';
import { copyProductionPackages, packagingPath, packPackage, runTool } from '../harness/packaging.js';
import { startProgram } from '../harness/started-program.js';

interface Instruction {
  readonly name: string;
  readonly value: string;
}
interface Stage {
  readonly image: string;
  readonly name: string | undefined;
  readonly instructions: readonly Instruction[];
}

const text = readFileSync(packagingPath('container/Containerfile'), 'utf8');
const stages = stagesOf(text);
const last = stages.at(-1)!;

function stagesOf(file: string): Stage[] {
  const lines = file
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n');
  const found: { image: string; name: string | undefined; instructions: Instruction[] }[] = [];
  for (const line of lines.filter((one) => one.trim() !== '')) {
    const [, name, value] = /^([A-Z]+)\s+(.*)$/.exec(line)!;
    const from = name === 'FROM' ? /^(\S+)(?: AS (\S+))?$/.exec(value!)! : undefined;
    if (from) found.push({ image: from[1]!, name: from[2], instructions: [] });
    else found.at(-1)?.instructions.push({ name: name!, value: value! });
  }
  return found;
}

const valuesOf = (stage: Stage, name: string) =>
  stage.instructions.filter((one) => one.name === name).map(({ value }) => value);
const wordsOf = (name: string) => JSON.parse(valuesOf(last, name)[0]!) as string[];

describe('the Containerfile', () => {
  it('ends with an image without a shell, for a user without rights', () => {
    expect(last.image).toMatch(/^gcr\.io\/distroless\/nodejs.*:nonroot$/);
    expect(valuesOf(last, 'USER')).toEqual(['65532:65532']);
    expect(['RUN', 'ADD', 'SHELL'].flatMap((name) => valuesOf(last, name))).toEqual([]);
    expect(valuesOf(last, 'HEALTHCHECK')[0]).toMatch(/CMD \["/);
    expect(wordsOf('ENTRYPOINT')[0]).toBe('/nodejs/bin/node');
  });

  it('copies from earlier stages, and from the repository what exists and is not ignored', () => {
    const ignored = readFileSync(packagingPath('container/Containerfile.dockerignore'), 'utf8').split('\n');
    const missing = stages.flatMap((stage, index) =>
      valuesOf(stage, 'COPY').flatMap((value) => {
        const words = value.split(' ').filter((word) => !/^--(?!from=)/.test(word));
        const from = words[0]!.startsWith('--from=') ? words.shift()!.slice('--from='.length) : undefined;
        if (from !== undefined) return stages.slice(0, index).some(({ name }) => name === from) ? [] : [from];
        const sources = words.slice(0, -1).filter((source) => source !== '.');
        return sources.filter(
          (source) => !existsSync(join(packageRoot, source)) || !ignored.includes(`!${source.split('/')[0]}`),
        );
      }),
    );
    expect(missing).toEqual([]);
    const included = ignored.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
    expect(included.filter((path) => !existsSync(join(packageRoot, path)))).toEqual([]);
  });

  it('installs no script of a package, and no development package in the last stages', () => {
    const installs = stages.flatMap((stage) => valuesOf(stage, 'RUN')).filter((run) => run.includes('npm install'));
    expect(installs).toHaveLength(2);
    for (const install of installs) expect(install).toContain('--ignore-scripts');
    expect(installs[1]).toContain('--omit=dev');
  });
});

/** The steps of the stages, without their images: the tarball and production packages in one folder. */
describe('the application folder of the image', () => {
  const isRoot = process.getuid?.() === 0;
  const uid = isRoot ? 65_532 : undefined;
  let root: string;
  let app: string;
  let data: string;

  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'keelson-image-'));
    chmodSync(root, 0o755);
    app = join(root, 'app');
    data = join(root, 'data');
    mkdirSync(app);
    mkdirSync(data);
    await runTool('tar', ['-xzf', await packPackage(root), '--strip-components=1', '-C', app]);
    copyProductionPackages(app);
    copyFileSync(packagingPath('container/healthcheck.mjs'), join(app, 'healthcheck.mjs'));
    await runTool('chmod', ['-R', 'a+rX,a-w', app]);
    if (isRoot) await runTool('chown', ['65532:65532', data]);
  });
  afterAll(async () => {
    await runTool('chmod', ['-R', 'u+w', app]);
    rmSync(root, { recursive: true, force: true });
  });

  /** A command of the image, with the paths and the user of this machine. */
  const here = (words: readonly string[]) =>
    words.map((word) =>
      word
        .replace(/^\/nodejs\/bin\/node$/, process.execPath)
        .replace(/^\/app\//, `${app}/`)
        .replace('/var/lib/keelson', data)
        .replace('0.0.0.0', '127.0.0.1'),
    );
  const check = (url: string) => {
    const [program, ...words] = here(
      JSON.parse(/CMD (\[.*\])/.exec(valuesOf(last, 'HEALTHCHECK')[0]!)![1]!) as string[],
    );
    return spawnSync(program!, [...words, url], { encoding: 'utf8', ...(uid && { uid, gid: uid }) });
  };

  it('is served from by another user, read-only, and passes the health check', async () => {
    const [program, ...words] = here([...wordsOf('ENTRYPOINT'), ...wordsOf('CMD'), '--secure-port=0']);
    const env = Object.fromEntries(valuesOf(last, 'ENV').map((value) => value.split('=') as [string, string]));
    const server = await startProgram(program!, words, { cwd: data, env, uid });
    const healthy = check(`${server.url}/livez`);
    expect([healthy.status, healthy.stderr]).toEqual([0, `${server.url}/livez: 200\n`]);
    expect(check(`${server.url}/livez/absent`).status).toBe(1);
    expect(await server.stop()).toBe(0);
    expect(check(`${server.url}/livez`).stderr).toContain('ECONNREFUSED');
    expect(readdirSync(data).sort()).toEqual(['admin.kubeconfig', 'pki', 'store']);
  });
});

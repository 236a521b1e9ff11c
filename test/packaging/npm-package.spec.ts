import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findKubectls } from '../../scripts/kubectl/kubectl.js';
import { packageRoot } from '../../src/config/config-files.js';
import { installTarball, packPackage, runTool } from '../harness/packaging.js';
import { startProgram } from '../harness/started-program.js';

interface Packed {
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}

const manifest = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, unknown>>;
};

describe('npm pack', () => {
  let packed: Packed;
  beforeAll(async () => {
    const words = ['pack', '--dry-run', '--json', '--ignore-scripts', '--loglevel=error'];
    [packed] = JSON.parse(await runTool('npm', words)) as [Packed];
  });
  const paths = () => packed.files.map(({ path }) => path);

  it('lists commands, built modules, configuration, documents and nothing else', () => {
    const expected = [
      /^(LICENSE|README\.md|package\.json|scripts\/ensure-setup\.mjs)$/,
      /^bin\/(keelson|kube-apiserver|run-built\.mjs)$/,
      /^config\/([\w-]+\/)?[\w-]+\.yaml$/,
      /^console\/([\w-]+\/)?[\w-]+\.(html|css|js|svg)$/,
      /^dist\/bundle\/main\.(js|compiled)$/,
      /^dist\/src\/[\w./-]+\.(js|d\.ts)$/,
      /^docs\/[\w-]+\.md$/,
      /^packaging\/(backup\.mjs|systemd\/[\w.-]+)$/,
    ];
    expect(paths().filter((path) => !expected.some((pattern) => pattern.test(path)))).toEqual([]);
    expect(paths().filter((path) => /\.(spec|map|key|kubeconfig)\b/.test(path))).toEqual([]);
  });

  it('has the files of every command and export', () => {
    const targets = JSON.stringify([manifest.bin, manifest.exports]).match(/"(\.\/)?(bin|dist)\/[^"]+"/g)!;
    const named = targets.map((target) => target.slice(1, -1).replace(/^\.\//, ''));
    expect(named.length).toBeGreaterThanOrEqual(8);
    expect([...named, 'dist/bundle/main.js'].filter((path) => !paths().includes(path))).toEqual([]);
    const modes = packed.files.filter(({ path }) => /^bin\/[\w-]+$/.test(path)).map(({ mode }) => mode & 0o111);
    expect(modes).toEqual([0o111, 0o111]);
  });

  it('stays below 7 MB, 26 MB unpacked and 4,000 files', () => {
    const { size, unpackedSize, files } = packed;
    expect({ size: size < 7e6, unpackedSize: unpackedSize < 26e6, files: files.length < 4_000 }).toEqual({
      size: true,
      unpackedSize: true,
      files: true,
    });
  });

  it('runs nothing when the package is installed', () => {
    const atInstall = ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish'];
    expect(atInstall.filter((name) => name in manifest.scripts)).toEqual([]);
  });
});

describe('the package, installed in an empty folder', () => {
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'keelson-installed-'));
    writeFileSync(join(folder, 'package.json'), '{"name":"empty","version":"1.0.0","type":"module"}');
    await installTarball(await packPackage(folder), folder);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('has no development packages', () => {
    const packages = ['typescript', 'jest', 'esbuild', 'eslint', '@swc/core', 'fast-check', '@kubernetes/client-node'];
    expect(packages.filter((name) => existsSync(join(folder, 'node_modules', name)))).toEqual([]);
  });

  it('serves kubectl with `npx keelson serve`', async () => {
    expect(await runTool('npx', ['--no', 'keelson', 'version'], folder)).toMatch(/keelson \d+\.\d+\.\d+/i);
    const server = await startProgram(join(folder, 'node_modules/.bin/keelson'), ['serve', '--secure-port=0'], {
      cwd: folder,
    });
    try {
      const kubeconfig = join(folder, '.keelson/admin.kubeconfig');
      expect(existsSync(kubeconfig)).toBe(true);
      for (const { path } of findKubectls(packageRoot).slice(0, 1)) {
        const words = ['--kubeconfig', kubeconfig, '--cache-dir', join(folder, 'cache')];
        await runTool(path, [...words, 'create', 'configmap', 'a', '--from-literal=colour=blue']);
        expect(await runTool(path, [...words, 'get', 'configmap', 'a', '-o', 'jsonpath={.data.colour}'])).toBe('blue');
      }
    } finally {
      expect(await server.stop()).toBe(0);
    }
  });

  it('starts servers in programs that import it', async () => {
    const program = `
      import { startKeelson } from 'keelson/testing';
      import { openKubeconfigClient } from 'keelson/client';
      const keelson = await startKeelson();
      const client = await openKubeconfigClient({ file: await keelson.kubeconfigFile() });
      const { items } = await client.list('/api/v1/namespaces');
      console.log(items.map(({ metadata }) => metadata.name).join());
      client.close();
      await keelson.stop();`;
    writeFileSync(join(folder, 'program.js'), program);
    expect(await runTool(process.execPath, ['program.js'], folder)).toContain('kube-system');
  });
});

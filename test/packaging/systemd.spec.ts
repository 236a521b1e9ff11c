import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadAgentOptions } from '../../src/agent/options/load-agent-options.js';
import { loadConfig } from '../../src/config/load-config.js';
import { findProgram, packagingPath, runTool } from '../harness/packaging.js';

const unit = readFileSync(packagingPath('systemd/keelson.service'), 'utf8');
const agentUnit = readFileSync(packagingPath('systemd/keelson-agent.service'), 'utf8');
const agentSettings = readFileSync(packagingPath('systemd/agent.yaml'), 'utf8');
const dropIn = readFileSync(packagingPath('systemd/etcd.conf'), 'utf8');
const settings = readFileSync(packagingPath('systemd/config.yaml'), 'utf8');

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'keelson-unit-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const valuesOf = (name: string, text: string) =>
  [...text.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map((match) => match[1]!);

const analyze = findProgram('systemd-analyze', 'systemd-analyze verify and security of the units');
const test = analyze !== undefined && hasOfflineSecurity(analyze) ? it : it.skip;

// exposureMax: tenths of the scale of systemd-analyze security, which calls up to 2.0 OK and 9.6 unsafe.
describe.each([
  { name: 'keelson.service', text: unit, exposureMax: 15 },
  { name: 'keelson-agent.service', text: agentUnit, exposureMax: 20 },
])('$name', ({ name, text, exposureMax }) => {
  /** The unit with a program that exists on this machine. */
  function installed(): string {
    const file = join(folder, name);
    writeFileSync(file, text.replace(/^(ExecStart=)\S+/m, `$1${process.execPath}`));
    return file;
  }

  test('passes systemd-analyze verify without a warning', () => {
    const { status, stdout, stderr } = spawnSync(analyze!, ['verify', '--recursive-errors=no', installed()], {
      encoding: 'utf8',
    });
    const ofThisUnit = (stdout + stderr).split('\n').filter((line) => line.includes('keelson'));
    expect({ status, ofThisUnit }).toEqual({ status: 0, ofThisUnit: [] });
  });

  test(`has an exposure of at most ${exposureMax / 10} in systemd-analyze security`, async () => {
    const words = ['security', '--offline=true', `--threshold=${exposureMax}`, '--no-pager', installed()];
    expect(await runTool(analyze!, words)).toContain('Overall exposure level');
  });

  it('has no writable path but its state directory', () => {
    expect(valuesOf('ProtectSystem', text)).toEqual(['strict']);
    expect(valuesOf('NoNewPrivileges', text)).toEqual(['yes']);
    expect(valuesOf('ReadWritePaths', text)).toEqual([]);
    expect(valuesOf('ExecStart', text)[0]).toContain(`/var/lib/${valuesOf('StateDirectory', text)[0]}`);
  });
});

it('keelson.service has no rights', () => {
  expect(valuesOf('DynamicUser', unit)).toEqual(['yes']);
  expect(valuesOf('CapabilityBoundingSet', unit)).toEqual(['']);
});

it('keelson-agent.service may read files of all users, and has no other right of root', () => {
  expect(valuesOf('CapabilityBoundingSet', agentUnit)).toEqual(['CAP_DAC_READ_SEARCH']);
});

it.each([
  { name: 'as it is installed', text: agentSettings },
  { name: 'with all settings that are comments', text: agentSettings.replace(/^# (?=[A-Za-z]+: )/gm, '') },
])('agent.yaml is accepted $name, and lets nobody in without credentials', ({ text }) => {
  const file = join(folder, 'agent.yaml');
  writeFileSync(file, text);
  const [, ...flags] = valuesOf('ExecStart', agentUnit)[0]!.split(' ').slice(1);
  const loaded = loadAgentOptions(flags.map((flag) => flag.replace('/etc/keelson/agent.yaml', file)));
  expect(loaded.errors).toBeUndefined();
  expect('options' in loaded && loaded.options).toMatchObject({
    certDirectory: '/var/lib/kubelet/pki',
    kubeconfig: '/var/lib/kubelet/kubeconfig',
    authentication: { anonymous: false, webhook: true },
    authorization: { mode: 'Webhook' },
  });
});

function hasOfflineSecurity(analyze: string): boolean {
  const hasIt = spawnSync(analyze, ['--help'], { encoding: 'utf8' }).stdout.includes('--offline');
  if (!hasIt) process.stderr.write('skipped: systemd-analyze is older than 250 and has no --offline\n');
  return hasIt;
}

it('etcd.conf sets the flags of etcd from the credentials that it loads', () => {
  const loaded = valuesOf('LoadCredential', dropIn).map((value) => value.split(':')[0]);
  const used = valuesOf('Environment', dropIn).map((value) => /^(KEELSON_ETCD_\w+)=%d\/(.+)$/.exec(value)!);
  expect(used.map((match) => match[2])).toEqual(loaded);
  const environment = Object.fromEntries(used.map(([, name, file]) => [name!, `/run/credentials/${file}`]));
  const { config, errors } = load('etcd-servers: [https://etcd-1:2379]', environment);
  expect(errors).toBeUndefined();
  expect(config!.storage.etcd).toMatchObject({
    caFile: '/run/credentials/etcd-ca.crt',
    certFile: '/run/credentials/etcd-client.crt',
    keyFile: '/run/credentials/etcd-client.key',
  });
});

it.each([
  { name: 'as it is installed', text: settings },
  { name: 'with all settings that are comments', text: settings.replace(/^# (?=[a-z-]+: )/gm, '') },
])('config.yaml is accepted $name', ({ text }) => {
  const { config, errors, warnings } = load(text, {});
  expect({ errors, warnings }).toEqual({ errors: undefined, warnings: [] });
  expect(config!.serving.bindAddress).toBe('127.0.0.1');
});

function load(text: string, environment: Readonly<Record<string, string>>) {
  const file = join(folder, 'config.yaml');
  writeFileSync(file, text);
  const result = loadConfig([`--config=${file}`, '--data-dir=/var/lib/keelson'], environment, { defaults: 'keelson' });
  return { config: undefined, warnings: undefined, errors: undefined, ...result };
}

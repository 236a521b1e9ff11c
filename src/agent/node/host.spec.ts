import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readHostAmounts } from './host-amounts.js';
import { readHostFacts } from './host-facts.js';
import { defaultInterfacesOf, defaultInterfacesOfIpv6, nodeAddresses, type AddressSources } from './node-addresses.js';

const root = `${mkdtempSync(join(tmpdir(), 'keelson-host-'))}/`;
afterAll(() => rmSync(root, { recursive: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(root + path), { recursive: true });
  writeFileSync(root + path, text);
}

it('facts and amounts of a machine are read from its files', async () => {
  write('etc/machine-id', 'abc\n');
  write('proc/sys/kernel/random/boot_id', 'boot-1\n');
  write('usr/lib/os-release', 'NAME="X"\nPRETTY_NAME="X \\"1\\" $y"\n');
  write('proc/meminfo', 'MemTotal:       1000 kB\nMemFree:         10 kB\nMemAvailable:    200 kB\n');
  write('proc/loadavg', '0.20 0.18 0.12 1/80 11206\n');
  write('proc/sys/kernel/pid_max', '32768\n');
  write('proc/sys/kernel/threads-max', '100\n');
  expect(await readHostFacts(root)).toMatchObject({
    machineId: 'abc',
    systemUuid: 'abc',
    bootId: 'boot-1',
    osImage: 'X "1" $y',
    cpus: expect.any(Number) as number,
  });
  expect(await readHostAmounts(root, root)).toMatchObject({
    memory: { capacity: 1_024_000n, available: 204_800n },
    processes: { capacity: 100n, available: 20n },
    storage: { capacity: expect.any(BigInt) as bigint, available: expect.any(BigInt) as bigint },
  });
});

it('facts and amounts that cannot be read are absent', async () => {
  const nowhere = `${root}nowhere/`;
  expect(await readHostFacts(nowhere)).toMatchObject({ machineId: '', bootId: '', osImage: 'Unknown' });
  expect(await readHostAmounts(nowhere, nowhere)).toEqual({});
  write('garbage/proc/meminfo', 'MemTotal: many kB\n');
  write('garbage/proc/loadavg', '\0\0');
  write('garbage/proc/sys/kernel/pid_max', '-1');
  expect(await readHostAmounts(nowhere, `${root}garbage/`)).toEqual({});
});

const routes = [
  'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT',
  'eth1\t00000000\t010200C0\t0003\t0\t0\t200\t00000000\t0\t0\t0',
  'eth0\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0',
  'eth2\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0',
  '',
].join('\n');
const zero = '0'.repeat(32);
const routes6 = [
  `${zero} 00 ${zero} 00 ${zero} ffffffff 00000001 00000000 00200200       lo`,
  `${zero} 00 ${zero} 00 fe800000000000000000000000000001 00000400 00000001 00000000 00450003     eth3`,
].join('\n');

it('the interfaces of default routes are ordered by their metric', () => {
  expect(defaultInterfacesOf(routes)).toEqual(['eth0', 'eth1']);
  expect(defaultInterfacesOfIpv6(routes6)).toEqual(['eth3']);
  expect([...defaultInterfacesOf(''), ...defaultInterfacesOfIpv6('\n')]).toEqual([]);
});

const sources: AddressSources = {
  hostAddresses: () => [
    { interface: 'lo', address: '127.0.0.1', isInternal: true },
    { interface: 'eth0', address: 'fe80::1', isInternal: false },
    { interface: 'eth0', address: 'fd00::1', isInternal: false },
    { interface: 'eth0', address: '10.0.0.1', isInternal: false },
    { interface: 'eth1', address: '10.1.0.1', isInternal: false },
  ],
  defaultInterfaces: () => Promise.resolve(['eth0']),
  resolve: (name) =>
    name === 'named' ? Promise.resolve(['127.0.1.1', '10.1.0.1']) : Promise.reject(new Error('none')),
};
const node = { nodeIps: [], hostname: 'n', nodeName: 'n' };

it.each([
  ['the default route', node, ['10.0.0.1']],
  ['the name of the node', { ...node, nodeName: 'named' }, ['10.1.0.1']],
  ['a host name that is an address', { ...node, hostname: '10.9.9.9' }, ['10.9.9.9']],
  ['the default route in the family of --node-ip=::', { ...node, nodeIps: ['::'] }, ['fd00::1']],
  ['the default route with --node-ip=0.0.0.0', { ...node, nodeIps: ['0.0.0.0'] }, ['10.0.0.1']],
  ['--node-ip', { ...node, nodeIps: ['10.1.0.1', 'fd00::1'] }, ['10.1.0.1', 'fd00::1']],
])('the internal address of a Node is that of %s', async (_source, settings, wanted) => {
  expect(await nodeAddresses(settings, sources)).toEqual([
    ...wanted.map((address) => ({ type: 'InternalIP', address })),
    { type: 'Hostname', address: settings.hostname },
  ]);
});

it('a machine without an address needs --node-ip, which must be its own', async () => {
  const routeless = { ...sources, defaultInterfaces: () => Promise.resolve([]) };
  await expect(nodeAddresses(node, routeless)).rejects.toThrow('set --node-ip');
  await expect(nodeAddresses({ ...node, nodeIps: ['10.7.7.7'] }, sources)).rejects.toThrow(
    '10.7.7.7 is not an address',
  );
});

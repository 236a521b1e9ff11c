import { lookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { NodeAddress } from '../../catalog/types/core.v1.js';
import type { NodeSettings } from './node-settings.js';

/** An address of a network interface of this machine. */
interface HostAddress {
  readonly interface: string;
  readonly address: string;
  readonly isInternal: boolean;
}

/** Sources of addresses, which tests replace. */
export interface AddressSources {
  readonly hostAddresses: () => readonly HostAddress[];
  /** Names of the interfaces of default routes, those of IPv4 first, the preferred of each family first. */
  readonly defaultInterfaces: () => Promise<readonly string[]>;
  /** Addresses of a name. */
  readonly resolve: (name: string) => Promise<readonly string[]>;
}

const systemAddressSources: AddressSources = {
  hostAddresses: () =>
    Object.entries(networkInterfaces()).flatMap(([name, addresses]) =>
      (addresses ?? []).map(({ address, internal }) => ({ interface: name, address, isInternal: internal })),
    ),
  defaultInterfaces: async () => {
    const [four, six] = await Promise.all(
      ['/proc/net/route', '/proc/net/ipv6_route'].map((file) => readFile(file, 'utf8').catch(() => '')),
    );
    return [...defaultInterfacesOf(four!), ...defaultInterfacesOfIpv6(six!)];
  },
  resolve: async (name) => (await lookup(name, { all: true })).map(({ address }) => address),
};

type Family = 4 | 6;

/** Values of --node-ip that stand for any address, preferably of their family. */
export const unspecifiedAddresses: ReadonlyMap<string, Family> = new Map([
  ['0.0.0.0', 4],
  ['::', 6],
]);

/**
 * Returns the addresses of the Node: --node-ip, or the host name if it is an address, or the address that the node's name
 * resolves to if it is one of this machine, or that of the interface of the default route. Rejects if there is none.
 */
export async function nodeAddresses(
  { nodeIps, hostname, nodeName }: Pick<NodeSettings, 'nodeIps' | 'hostname' | 'nodeName'>,
  sources: AddressSources = systemAddressSources,
): Promise<NodeAddress[]> {
  const family = unspecifiedAddresses.get(nodeIps[0] ?? '0.0.0.0');
  const internal =
    family === undefined ? checkedIps(nodeIps, sources) : [await foundIp(hostname, nodeName, family, sources)];
  return [...internal.map((address) => ({ type: 'InternalIP', address })), { type: 'Hostname', address: hostname }];
}

function checkedIps(nodeIps: readonly string[], sources: AddressSources): readonly string[] {
  const own = new Set(sources.hostAddresses().map(({ address }) => address));
  for (const ip of nodeIps) {
    if (!own.has(ip)) throw new Error(`--node-ip ${ip} is not an address of a network interface of this machine`);
  }
  return nodeIps;
}

async function foundIp(hostname: string, nodeName: string, family: Family, sources: AddressSources): Promise<string> {
  if (isIP(hostname) !== 0) return hostname;
  const own = sources.hostAddresses().filter(({ address, isInternal }) => !isInternal && !isLinkLocal(address));
  const resolved: readonly string[] = await sources.resolve(nodeName).catch(() => []);
  const named = preferred(
    own.filter(({ address }) => resolved.includes(address)),
    family,
  );
  if (named !== undefined) return named;
  for (const name of await sources.defaultInterfaces()) {
    const address = preferred(
      own.filter((candidate) => candidate.interface === name),
      family,
    );
    if (address !== undefined) return address;
  }
  throw new Error('no address of this machine was found: there is no default route; set --node-ip');
}

function preferred(addresses: readonly HostAddress[], family: Family): string | undefined {
  return (addresses.find(({ address }) => isIP(address) === family) ?? addresses[0])?.address;
}

function isLinkLocal(address: string): boolean {
  return address.startsWith('169.254.') || /^fe[89ab][0-9a-f]:/i.test(address);
}

/** `eth0 00000000 010200C0 0003 0 0 0 00000000 …`: interface, destination, gateway, flags, …, metric, mask. */
export function defaultInterfacesOf(text: string): string[] {
  const routes = text.split('\n').map((line) => line.trim().split(/\s+/));
  return routes
    .filter(([, destination, , , , , , mask]) => destination === '00000000' && mask === '00000000')
    .sort((one, other) => Number(one[6]) - Number(other[6]))
    .map(([name]) => name!);
}

/** `0…0 00 0…0 00 <gateway> <metric> … <flags> eth0`: destination, prefix length, …, metric, …, interface. */
export function defaultInterfacesOfIpv6(text: string): string[] {
  const routes = text.split('\n').map((line) => line.trim().split(/\s+/));
  return routes
    .filter(
      ([destination = '', length, , , , , , , , name]) =>
        /^0{32}$/.test(destination) && length === '00' && name !== 'lo',
    )
    .sort((one, other) => parseInt(one[5]!, 16) - parseInt(other[5]!, 16))
    .map((route) => route[9]!);
}

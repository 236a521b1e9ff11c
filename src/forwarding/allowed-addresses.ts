import { BlockList, isIP } from 'node:net';

const special = new BlockList();
special.addSubnet('127.0.0.0', 8, 'ipv4');
special.addSubnet('169.254.0.0', 16, 'ipv4');
special.addSubnet('224.0.0.0', 4, 'ipv4');
special.addAddress('0.0.0.0', 'ipv4');
special.addAddress('255.255.255.255', 'ipv4');
special.addAddress('::', 'ipv6');
special.addAddress('::1', 'ipv6');
special.addSubnet('fe80::', 10, 'ipv6');
special.addSubnet('ff00::', 8, 'ipv6');

/**
 * True for an address to which requests of users are forwarded: global unicast as Go's IP.IsGlobalUnicast, which excludes
 * loopback, link-local, unspecified and multicast addresses, also those written as IPv6. Private networks are allowed.
 */
export function isGlobalUnicast(address: string): boolean {
  const family = isIP(address);
  if (family === 0 || address.includes('%')) return false;
  return !special.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

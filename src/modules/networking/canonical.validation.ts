import { familyOf, parseCidr, validateCidr, validateIp } from '../../machinery/ip-addresses.js';
import { addressAt, addressNumber, addressText } from '../../machinery/ip-range.js';

/** Validation of addresses and CIDRs that are compared as texts, and so must be in canonical form. */
export function validateCanonicalIp(text: string): string[] {
  if (familyOf(text) === 0)
    return familyOf(withoutLeadingZeros(text)) === 0 ? validateIp(text) : ['must not have leading 0s'];
  if (isMapped(text)) return ['must not be an IPv4-mapped IPv6 address'];
  const canonical = canonicalIp(text);
  return text === canonical ? [] : [`must be in canonical form ("${canonical}")`];
}

export function validateCanonicalCidr(text: string): string[] {
  const cidr = parseCidr(text);
  if (!cidr) {
    return parseCidr(withoutLeadingZeros(text))
      ? ['must not have leading 0s in IP or prefix length']
      : validateCidr(text);
  }
  const { address, bits } = cidr;
  if (isMapped(address)) return ['must not have an IPv4-mapped IPv6 address'];
  const start = startOf(text);
  if (canonicalIp(address) !== start) return ['must not have bits set beyond the prefix length'];
  const canonical = `${start}/${bits}`;
  return text === canonical ? [] : [`must be in canonical form ("${canonical}")`];
}

/** Accepts the address of an interface with the length of its prefix: `10.9.8.7/24`. */
export function validateCanonicalInterface(text: string): string[] {
  const cidr = parseCidr(withoutLeadingZeros(text));
  if (!cidr) return ['must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)'];
  const { address, bits } = cidr;
  const canonical = isMapped(address)
    ? `${unmapped(address)}/${bits > 32 ? bits - mappedBits : bits}`
    : `${canonicalIp(address)}/${bits}`;
  return text === canonical ? [] : [`must be in canonical form ("${canonical}")`];
}

export const cidrFamily = (text: string): 0 | 4 | 6 => parseCidr(text)?.family ?? 0;

/** Returns the network address of a CIDR. */
export const startOf = (cidr: string): string => addressAt(cidr, 0n);

/** True if the second CIDR is part of the first and smaller. */
export function isStrictSubset(whole: string, part: string): boolean {
  const outer = parseCidr(whole);
  const inner = parseCidr(part);
  return (
    outer !== undefined &&
    inner?.family === outer.family &&
    inner.bits > outer.bits &&
    startOf(`${inner.address}/${outer.bits}`) === startOf(whole)
  );
}

/** True for an IPv6 address that stands for an IPv4 address: `::ffff:10.0.0.1`. */
export const isMapped = (text: string): boolean => text.includes(':') && addressNumber(text) >> 32n === 0xffffn;

/** The number of bits before the IPv4 address in an IPv4-mapped IPv6 address. */
export const mappedBits = 96;

/** Converts an IPv4-mapped IPv6 address to IPv4: `::ffff:a00:1` → `10.0.0.1`. */
export const unmapped = (text: string): string => addressText(addressNumber(text) & 0xffffffffn, 4);

/** Returns the canonical text of a valid address. */
export const canonicalIp = (text: string): string => addressText(addressNumber(text), text.includes(':') ? 6 : 4);

const withoutLeadingZeros = (text: string): string => text.replace(/(^|[./:])0+(?=\d)/g, '$1');

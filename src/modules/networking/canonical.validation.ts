import { isIP, isIPv4 } from 'node:net';
import { addressAt } from '../../machinery/ip-range.js';

/** Validation of addresses and CIDRs that are compared as texts, and so must be in canonical form. */
const noIp = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const noCidr = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

export function validateCanonicalIp(text: string): string[] {
  if (familyOf(text) === 0) return [familyOf(withoutLeadingZeros(text)) === 0 ? noIp : 'must not have leading 0s'];
  if (isMapped(text)) return ['must not be an IPv4-mapped IPv6 address'];
  const canonical = canonicalIp(text);
  return text === canonical ? [] : [`must be in canonical form ("${canonical}")`];
}

export function validateCanonicalCidr(text: string): string[] {
  if (!isCidr(text)) {
    return [isCidr(withoutLeadingZeros(text)) ? 'must not have leading 0s in IP or prefix length' : noCidr];
  }
  const [address = '', bits = ''] = text.split('/');
  if (isMapped(address)) return ['must not have an IPv4-mapped IPv6 address'];
  const start = startOf(text);
  if (canonicalIp(address) !== start) return ['must not have bits set beyond the prefix length'];
  const canonical = `${start}/${bits}`;
  return text === canonical ? [] : [`must be in canonical form ("${canonical}")`];
}

export const cidrFamily = (text: string): 0 | 4 | 6 => (isCidr(text) ? familyOf(text.split('/')[0]!) : 0);

/** Returns the network address of a CIDR. */
export const startOf = (cidr: string): string => addressAt(inGroups(cidr), 0n);

/** True if the second CIDR is part of the first and smaller. Both must be valid. */
export function isStrictSubset(whole: string, part: string): boolean {
  const [, wholeBits = ''] = whole.split('/');
  const [partAddress = '', partBits = ''] = part.split('/');
  return (
    cidrFamily(whole) === cidrFamily(part) &&
    Number(partBits) > Number(wholeBits) &&
    startOf(`${partAddress}/${wholeBits}`) === startOf(whole)
  );
}

function isCidr(text: string): boolean {
  const [address = '', bits = '', ...rest] = text.split('/');
  const family = familyOf(address);
  return (
    rest.length === 0 && family !== 0 && /^(0|[1-9]\d{0,2})$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)
  );
}

export const familyOf = (text: string): 0 | 4 | 6 => (text.includes('%') ? 0 : (isIP(text) as 0 | 4 | 6));
export const isMapped = (text: string): boolean => /^::ffff:[0-9a-f]+:[0-9a-f]+$/.test(canonicalIp(text));
export const canonicalIp = (text: string): string => (isIPv4(text) ? text : addressAt(`${inGroups(text)}/128`, 0n));

/** Converts an IPv4 suffix of an IPv6 address to hexadecimal groups: `64:ff9b::10.0.0.1` → `64:ff9b::a00:1`. */
function inGroups(text: string): string {
  if (!text.includes(':')) return text;
  return text.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)/, (_all, ...bytes: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = bytes.slice(0, 4).map(Number);
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
}
const withoutLeadingZeros = (text: string): string => text.replace(/(^|[./:])0+(?=\d)/g, '$1');

import { addressNumber, addressText } from '../../../machinery/ip-range.js';
import { quote } from '../../values/texts.js';
import { spend } from '../../work.js';

/** IP addresses and networks as Go's netip reads them, with its messages. */
export interface Address {
  readonly value: bigint;
  readonly family: 4 | 6;
  readonly zone: string;
}
export interface Prefix {
  readonly address: Address;
  readonly bits: number;
}

const widthOf = (address: Address): number => (address.family === 4 ? 32 : 128);
/** True for an IPv4 address that is written as IPv6: `::ffff:10.0.0.1`. */
export const isMapped = ({ family, value }: Address): boolean => family === 6 && value >> 32n === 0xffffn;

export function formatAddress(address: Address): string {
  spend(address.family === 4 ? 30 : 150);
  if (!isMapped(address)) return addressText(address.value, address.family);
  return `::ffff:${addressText(address.value & 0xffffffffn, 4)}`;
}
export const formatPrefix = ({ address, bits }: Prefix): string => `${formatAddress(address)}/${bits}`;

const failure = (text: string, message: string, at = ''): string =>
  `ParseAddr(${quote(text)}): ${message}${at === '' ? '' : ` (at ${quote(at)})`}`;

/** The address, or why the text is none. */
export function parseAddress(text: string): Address | string {
  spend(50);
  const first = /[.:%]/.exec(text)?.[0];
  if (first === undefined) return failure(text, 'unable to parse IP');
  if (first === '%') return failure(text, 'missing IPv6 address');
  if (first === ':') return parseV6(text);
  return v4Problem(text, text) ?? { value: addressNumber(text), family: 4, zone: '' };
}

/** Returns the error in the part of `text` that should be an IPv4 address; undefined if it is valid. */
function v4Problem(text: string, part: string): string | undefined {
  let digits = '';
  let fields = 0;
  for (let index = 0; index < part.length; index++) {
    const char = part[index]!;
    if (char >= '0' && char <= '9') {
      if (digits === '0') return failure(text, 'IPv4 field has octet with leading zero');
      digits += char;
      if (Number(digits) > 255) return failure(text, 'IPv4 field has value >255');
    } else if (char === '.') {
      if (index === 0 || index === part.length - 1 || part[index - 1] === '.')
        return failure(text, 'IPv4 field must have at least one digit', part.slice(index));
      if (fields === 3) return failure(text, 'IPv4 address too long');
      fields++;
      digits = '';
    } else return failure(text, 'unexpected character', part.slice(index));
  }
  return fields < 3 ? failure(text, 'IPv4 address too short') : undefined;
}

function parseV6(text: string): Address | string {
  spend(100);
  const percent = text.indexOf('%');
  const zone = percent < 0 ? '' : text.slice(percent + 1);
  if (percent >= 0 && zone === '') return failure(text, 'zone must be a non-empty string');
  const problem = v6Problem(text, percent < 0 ? text : text.slice(0, percent));
  return problem ?? { value: addressNumber(percent < 0 ? text : text.slice(0, percent)), family: 6, zone };
}

function v6Problem(text: string, address: string): string | undefined {
  let rest = address;
  let bytes = 0;
  let ellipsis = -1;
  if (rest.startsWith('::')) {
    ellipsis = 0;
    rest = rest.slice(2);
    if (rest === '') return undefined;
  }
  while (bytes < 16) {
    const group = /^[0-9a-fA-F]*/.exec(rest)![0];
    if (group.length > 4) return failure(text, 'each group must have 4 or less digits', rest);
    if (group === '') return failure(text, 'each colon-separated field must have at least one digit', rest);
    if (rest[group.length] === '.') {
      if (ellipsis < 0 && bytes !== 12)
        return failure(text, 'embedded IPv4 address must replace the final 2 fields of the address', rest);
      if (bytes + 4 > 16)
        return failure(text, 'too many hex fields to fit an embedded IPv4 at the end of the address', rest);
      const problem = v4Problem(text, rest);
      if (problem) return problem;
      rest = '';
      bytes += 4;
      break;
    }
    bytes += 2;
    rest = rest.slice(group.length);
    if (rest === '') break;
    if (rest[0] !== ':') return failure(text, 'unexpected character, want colon', rest);
    if (rest.length === 1) return failure(text, 'colon must be followed by more characters', rest);
    rest = rest.slice(1);
    if (rest[0] === ':') {
      if (ellipsis >= 0) return failure(text, 'multiple :: in address', rest);
      ellipsis = bytes;
      rest = rest.slice(1);
      if (rest === '') break;
    }
  }
  if (rest !== '') return failure(text, 'trailing garbage after address', rest);
  if (bytes < 16) return ellipsis < 0 ? failure(text, 'address string too short') : undefined;
  return ellipsis >= 0 ? failure(text, 'the :: must expand to at least one field of zeros') : undefined;
}

/** The network, or why the text is none. */
export function parsePrefix(text: string): Prefix | string {
  const fail = (message: string): string => `netip.ParsePrefix(${quote(text)}): ${message}`;
  const slash = text.lastIndexOf('/');
  if (slash < 0) return fail("no '/'");
  const address = parseAddress(text.slice(0, slash));
  if (typeof address === 'string') return fail(address);
  if (address.zone !== '') return fail('IPv6 zones cannot be present in a prefix');
  const bits = text.slice(slash + 1);
  if (!/^(?:[0-9]|[1-9][0-9]*|[+-][0-9])$/.test(bits)) return fail(`bad bits after slash: ${quote(bits)}`);
  if (bits.length > 1 && !/^[1-9]/.test(bits)) return fail(`bad bits after slash: ${quote(bits)}`);
  if (Number(bits) > widthOf(address)) return fail('prefix length out of range');
  return { address, bits: Number(bits) };
}

const hostBits = ({ address, bits }: Prefix): bigint => BigInt(widthOf(address) - bits);

export function masked(prefix: Prefix): Prefix {
  const shift = hostBits(prefix);
  return { ...prefix, address: { ...prefix.address, value: (prefix.address.value >> shift) << shift } };
}

export function containsAddress(prefix: Prefix, address: Address): boolean {
  const shift = hostBits(prefix);
  const isSameFamily = address.family === prefix.address.family && address.zone === '';
  return isSameFamily && address.value >> shift === prefix.address.value >> shift;
}

export const containsPrefix = (outer: Prefix, inner: Prefix): boolean =>
  outer.bits <= inner.bits && containsAddress(outer, inner.address);

const inV6 = (address: Address, bits: number, value: bigint): boolean =>
  address.family === 6 && address.value >> BigInt(128 - bits) === value;
const inV4 = (address: Address, bits: number, value: bigint): boolean => {
  if (address.family === 6 && !isMapped(address)) return false;
  return (address.value & 0xffffffffn) >> BigInt(32 - bits) === value;
};

export const isUnspecified = (address: Address): boolean => address.value === 0n;
export const isLoopback = (address: Address): boolean =>
  inV4(address, 8, 127n) || (address.family === 6 && address.value === 1n);
export const isLinkLocalUnicast = (address: Address): boolean =>
  inV4(address, 16, 0xa9fen) || inV6(address, 10, 0x3fan);
/** ff02::/16, and its ff?2 likes; 224.0.0.0/24. */
export const isLinkLocalMulticast = (address: Address): boolean =>
  inV4(address, 24, 0xe00000n) || (inV6(address, 8, 0xffn) && ((address.value >> 112n) & 0xfn) === 2n);
const isMulticast = (address: Address): boolean => inV4(address, 4, 0xen) || inV6(address, 8, 0xffn);
export function isGlobalUnicast(address: Address): boolean {
  if (address.family === 4 && (address.value === 0n || address.value === 0xffffffffn)) return false;
  if (isUnspecified(address) || isLoopback(address)) return false;
  return !isMulticast(address) && !isLinkLocalUnicast(address);
}

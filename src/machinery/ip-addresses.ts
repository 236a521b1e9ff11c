import { isIP } from 'node:net';
import { fieldError, type FieldError, type FieldPath } from './field-error.js';

/** Returns 0 for texts that are not addresses, and for scoped IPv6 addresses (`fe80::1%eth0`), which mean one host only. */
export const familyOf = (text: string): 0 | 4 | 6 => (text.includes('%') ? 0 : (isIP(text) as 0 | 4 | 6));

interface Cidr {
  readonly address: string;
  readonly family: 4 | 6;
  /** Length of the prefix. */
  readonly bits: number;
}

/** Parses `10.9.8.0/24`; undefined if the text is not a CIDR. Bits beyond the prefix are allowed. */
export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf('/');
  const address = text.slice(0, slash);
  const bits = text.slice(slash + 1);
  const family = slash < 0 ? 0 : familyOf(address);
  if (family === 0 || !/^(0|[1-9]\d{0,2})$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128)) return undefined;
  return { address, family, bits: Number(bits) };
}

export function validateIp(text: string): string[] {
  return familyOf(text) === 0 ? ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'] : [];
}

export function validateCidr(text: string): string[] {
  return parseCidr(text) ? [] : ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'];
}

/** Addresses that traffic from outside can never reach, or that mean another host to everybody. */
export function validateReachableIp(text: string, at: FieldPath): FieldError[] {
  const address = text.toLowerCase();
  const kinds: readonly [boolean, string][] = [
    [address === '0.0.0.0' || address === '::', 'may not be unspecified'],
    [address.startsWith('127.') || address === '::1', 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
    [
      address.startsWith('169.254.') || /^fe[89ab][0-9a-f]:/.test(address),
      'may not be in the link-local range (169.254.0.0/16, fe80::/10)',
    ],
    [
      address.startsWith('224.0.0.') || /^ff02:/.test(address),
      'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)',
    ],
  ];
  return kinds.flatMap(([is, message]) => (is ? [fieldError.invalid(at, text, message)] : []));
}

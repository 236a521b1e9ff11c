import type { FieldPath } from '../../machinery/field-error.js';
import { canonicalIp, cidrFamily, familyOf, isMapped, startOf } from './canonical.validation.js';

/** Returns warnings about an address that is valid in existing fields only, since programs may read it differently. */
export function ipWarnings(text: string, at: FieldPath): string[] {
  if (familyOf(text) !== 6) return [];
  const canonical = canonicalIp(text);
  if (isMapped(text))
    return [`${String(at)}: non-standard IP address "${text}" is invalid: use "${unmapped(canonical)}"`];
  if (text === canonical) return [];
  return [`${String(at)}: IPv6 address "${text}" should be in RFC 5952 canonical format ("${canonical}")`];
}

/** Returns warnings about such a CIDR. */
export function cidrWarnings(text: string, at: FieldPath): string[] {
  const family = cidrFamily(text);
  if (family === 0) return [];
  const [address = '', bits = ''] = text.split('/');
  const range = `${startOf(text)}/${bits}`;
  const warnings: string[] = [];
  if (canonicalIp(address) !== startOf(text)) {
    const single = `${canonicalIp(address)}/${family === 4 ? 32 : 128}`;
    warnings.push(
      `${String(at)}: CIDR value "${text}" is ambiguous in this context (should be "${range}" or "${single}"?)`,
    );
  }
  if (isMapped(address) && Number(bits) >= mappedBits) {
    const plain = `${unmapped(startOf(text))}/${Number(bits) - mappedBits}`;
    warnings.push(`${String(at)}: non-standard CIDR value "${text}" is invalid: use "${plain}"`);
  }
  if (warnings.length > 0 || family === 4 || text === range) return warnings;
  return [`${String(at)}: IPv6 CIDR value "${text}" should be in RFC 5952 canonical format ("${range}")`];
}

/** The number of bits before the IPv4 address in an IPv4-mapped IPv6 address. */
const mappedBits = 96;

/** Converts an IPv4-mapped IPv6 address to IPv4: `::ffff:a00:1` → `10.0.0.1`. */
function unmapped(address: string): string {
  const groups = address.split(':').slice(-2);
  return groups
    .map((group) => Number.parseInt(group || '0', 16))
    .flatMap((group) => [group >> 8, group & 255])
    .join('.');
}

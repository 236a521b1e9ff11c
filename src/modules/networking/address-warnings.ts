import type { FieldPath } from '../../machinery/field-error.js';
import { familyOf, parseCidr } from '../../machinery/ip-addresses.js';
import { canonicalIp, isMapped, mappedBits, startOf, unmapped } from './canonical.validation.js';

/** Returns warnings about an address that is valid in existing fields only, since programs may read it differently. */
export function ipWarnings(text: string, at: FieldPath): string[] {
  if (familyOf(text) !== 6) return [];
  const canonical = canonicalIp(text);
  if (isMapped(text)) return [`${String(at)}: non-standard IP address "${text}" is invalid: use "${unmapped(text)}"`];
  if (text === canonical) return [];
  return [`${String(at)}: IPv6 address "${text}" should be in RFC 5952 canonical format ("${canonical}")`];
}

/** Returns warnings about such a CIDR. */
export function cidrWarnings(text: string, at: FieldPath): string[] {
  const cidr = parseCidr(text);
  if (!cidr) return [];
  const { address, family, bits } = cidr;
  const range = `${startOf(text)}/${bits}`;
  const warnings: string[] = [];
  if (canonicalIp(address) !== startOf(text)) {
    const single = `${canonicalIp(address)}/${family === 4 ? 32 : 128}`;
    warnings.push(
      `${String(at)}: CIDR value "${text}" is ambiguous in this context (should be "${range}" or "${single}"?)`,
    );
  }
  if (isMapped(address) && bits >= mappedBits) {
    const plain = `${unmapped(startOf(text))}/${bits - mappedBits}`;
    warnings.push(`${String(at)}: non-standard CIDR value "${text}" is invalid: use "${plain}"`);
  }
  if (warnings.length > 0 || family === 4 || text === range) return warnings;
  return [`${String(at)}: IPv6 CIDR value "${text}" should be in RFC 5952 canonical format ("${range}")`];
}

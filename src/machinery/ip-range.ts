import { isIPv4 } from 'node:net';

/** `10.0.0.0/24` → `10.0.0.1`: by convention the cluster IP of the `kubernetes` Service. */
export function firstAddressOf(cidr: string): string {
  return addressAt(cidr, 1n);
}

/** Returns the address at `offset` from the start of the range. */
export function addressAt(cidr: string, offset: bigint): string {
  const [base = '', bits = '0'] = cidr.split('/');
  const isV4 = isIPv4(base);
  const width = isV4 ? 32 : 128;
  const hostBits = BigInt(width - Number(bits));
  const start = (addressNumber(base) >> hostBits) << hostBits;
  return isV4 ? v4Text(start + offset) : v6Text(start + offset);
}

/** Converts a valid address to a number. */
export function addressNumber(address: string): bigint {
  return toNumber(inGroups(address));
}

/** Returns the canonical text of an address. */
export function addressText(value: bigint, family: 4 | 6): string {
  return family === 4 ? v4Text(value) : v6Text(value);
}

/** Converts a trailing IPv4 part of an IPv6 address: `64:ff9b::10.0.0.1` → `64:ff9b::a00:1`. */
function inGroups(text: string): string {
  if (!text.includes(':')) return text;
  return text.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_all, ...bytes: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = bytes.slice(0, 4).map(Number);
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
}

function toNumber(address: string): bigint {
  if (isIPv4(address)) return address.split('.').reduce((sum, part) => (sum << 8n) | BigInt(part), 0n);
  const [head = '', tail] = address.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const first = groups(head);
  const last = tail === undefined ? [] : groups(tail);
  const zeros = tail === undefined ? [] : new Array<string>(8 - first.length - last.length).fill('0');
  return [...first, ...zeros, ...last].reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n);
}

function v4Text(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 255n)).join('.');
}

/** Omits the longest run of zero groups. */
function v6Text(value: bigint): string {
  const groups = Array.from({ length: 8 }, (_, i) => ((value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16)).join(
    ':',
  );
  const runs = [...groups.matchAll(/\b0(:0)+\b/g)].sort((a, b) => b[0].length - a[0].length);
  const run = runs[0];
  if (!run) return groups;
  const before = groups.slice(0, run.index).replace(/:$/, '');
  const after = groups.slice(run.index + run[0].length).replace(/^:/, '');
  return `${before}::${after}`;
}

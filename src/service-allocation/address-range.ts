import { addressNumber, addressText } from '../machinery/ip-range.js';

export type IpFamily = 'IPv4' | 'IPv6';

export const familyOf = (address: string): IpFamily => (address.includes(':') ? 'IPv6' : 'IPv4');

/** Returns the canonical form of an address, which is the name of its IPAddress object. */
export function canonicalAddress(address: string): string {
  return addressText(addressNumber(address), familyOf(address) === 'IPv4' ? 4 : 6);
}

/** The addresses of a CIDR that Services can have: all but the network address and, for IPv4, the broadcast address. */
export class AddressRange {
  /** The CIDR with the network address: `10.0.0.0/24` for `10.0.0.5/24`. */
  readonly cidr: string;
  readonly family: IpFamily;
  /** The number of all addresses of the CIDR. */
  readonly size: bigint;
  /** The number of addresses that Services can have. */
  readonly usable: bigint;
  /** The network address. */
  readonly network: string;
  private readonly start: bigint;

  constructor(cidr: string) {
    const [address = '', bits = '0'] = cidr.split('/');
    this.family = familyOf(address);
    const hostBits = BigInt((this.family === 'IPv4' ? 32 : 128) - Number(bits));
    this.size = 1n << hostBits;
    this.start = (addressNumber(address) >> hostBits) << hostBits;
    this.network = this.text(this.start);
    this.cidr = `${this.network}/${bits}`;
    const unusable = this.family === 'IPv4' ? 2n : 1n;
    this.usable = this.size > unusable ? this.size - unusable : 0n;
  }

  contains(address: string): boolean {
    if (familyOf(address) !== this.family) return false;
    const offset = addressNumber(address) - this.start;
    return offset >= 0n && offset < this.size;
  }

  /** Returns the index of an address among those that Services can have. */
  offsetOf(address: string): bigint | undefined {
    if (familyOf(address) !== this.family) return undefined;
    const offset = addressNumber(address) - this.start - 1n;
    return offset >= 0n && offset < this.usable ? offset : undefined;
  }

  addressAt(offset: bigint): string {
    return this.text(this.start + 1n + offset);
  }

  private text(address: bigint): string {
    return addressText(address, this.family === 'IPv4' ? 4 : 6);
  }
}

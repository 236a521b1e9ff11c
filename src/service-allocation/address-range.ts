import { addressNumber, addressText } from '../machinery/ip-range.js';

export type IpFamily = 'IPv4' | 'IPv6';

export const familyOf = (address: string): IpFamily => (address.includes(':') ? 'IPv6' : 'IPv4');

/** The one way to write an address: what two services must not both have. */
export function canonicalAddress(address: string): string {
  return addressText(addressNumber(address), familyOf(address) === 'IPv4' ? 4 : 6);
}

/**
 * The addresses of a CIDR that services can have: all but the first, which names the network, and for IPv4 the last,
 * which means everybody.
 */
export class AddressRange {
  /** With its first address, however it was given. */
  readonly cidr: string;
  readonly family: IpFamily;
  /** Of the whole CIDR. */
  readonly size: bigint;
  readonly usable: bigint;
  /** The first address, which names the network. */
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

  /** Its place among those that services can have. */
  placeOf(address: string): bigint | undefined {
    if (familyOf(address) !== this.family) return undefined;
    const place = addressNumber(address) - this.start - 1n;
    return place >= 0n && place < this.usable ? place : undefined;
  }

  addressAt(place: bigint): string {
    return this.text(this.start + 1n + place);
  }

  private text(address: bigint): string {
    return addressText(address, this.family === 'IPv4' ? 4 : 6);
  }
}

import { SeededRng } from '../std/rng.js';
import { AddressRange } from './address-range.js';
import { addressBand, bandSplit, nodePortBand, Pool } from './pool.js';

it.each([
  ['addresses of a /28', 16, addressBand, 0],
  ['addresses of a /27', 32, addressBand, 16],
  ['addresses of a /24', 256, addressBand, 16],
  ['addresses of a /23', 512, addressBand, 32],
  ['addresses of a /20', 4096, addressBand, 256],
  ['addresses of a /12', 2 ** 20, addressBand, 256],
  ['10 node ports', 10, nodePortBand, 0],
  ['100 node ports', 100, nodePortBand, 16],
  ['2768 node ports', 2768, nodePortBand, 86],
  ['60000 node ports', 60_000, nodePortBand, 128],
])('the band split of %s', (_case, size, band, want) => expect(bandSplit(size, band)).toBe(want));

const pool = (size: number, split: number, seed = 1) => new Pool(size, split, new SeededRng(seed));
const drain = (from: Pool): number[] => {
  const offsets: number[] = [];
  for (let offset = from.pick(); offset !== undefined; offset = from.pick()) {
    from.take(offset);
    offsets.push(offset);
  }
  return offsets;
};

it.each([
  [1, 0],
  [33, 0],
  [100, 16],
  [254, 16],
  [300, 64],
])('%i offsets with %i in the lower band are each allocated once, the lower band last', (size, split) => {
  const offsets = drain(pool(size, split));
  expect(new Set(offsets).size).toBe(size);
  expect(Math.min(...offsets)).toBe(0);
  expect(Math.max(...offsets)).toBe(size - 1);
  expect(offsets.slice(0, size - split).every((offset) => offset >= split)).toBe(true);
});

it('a freed offset is allocated again', () => {
  const full = pool(64, 16);
  drain(full);
  full.free(40);
  full.free(3);
  expect([full.pick(), full.isTaken(40), full.isTaken(41)]).toEqual([40, false, true]);
  full.take(40);
  expect(full.pick()).toBe(3);
});

it('skips offsets that are not usable', () => {
  expect(pool(64, 0).pick((offset) => offset === 63)).toBe(63);
  expect(pool(64, 0).pick(() => false)).toBeUndefined();
});

it('starts at a random offset', () => {
  const firsts = Array.from({ length: 50 }, (_, seed) => pool(1000, 0, seed).pick());
  expect(new Set(firsts).size).toBeGreaterThan(40);
});

it.each<[string, bigint, string, string]>([
  ['10.0.0.0/24', 254n, '10.0.0.1', '10.0.0.254'],
  ['10.96.0.7/12', 2n ** 20n - 2n, '10.96.0.1', '10.111.255.254'],
  ['10.0.0.0/30', 2n, '10.0.0.1', '10.0.0.2'],
  ['fd00::/120', 255n, 'fd00::1', 'fd00::ff'],
  ['fd00:10:96::/112', 65535n, 'fd00:10:96::1', 'fd00:10:96::ffff'],
])('CIDR %s has %d usable addresses', (cidr, usable, first, last) => {
  const range = new AddressRange(cidr);
  expect([range.usable, range.addressAt(0n), range.addressAt(usable - 1n)]).toEqual([usable, first, last]);
  expect([range.offsetOf(first), range.offsetOf(last)]).toEqual([0n, usable - 1n]);
  expect(new AddressRange('10.96.0.7/12').cidr).toBe('10.96.0.0/12');
});

it.each([
  ['10.0.0.0/24', '10.0.0.0', true, undefined],
  ['10.0.0.0/24', '10.0.0.255', true, undefined],
  ['10.0.0.0/24', '10.0.1.1', false, undefined],
  ['10.0.0.0/24', 'fd00::1', false, undefined],
  ['10.0.0.0/31', '10.0.0.1', true, undefined],
  ['fd00::/64', 'fd00::', true, undefined],
  ['fd00::/64', 'FD00:0::12', true, 17n],
  ['fd00::/64', 'fd00::0.0.1.0', true, 255n],
])('CIDR %s: offset of %s', (cidr, address, contains, offset) => {
  const range = new AddressRange(cidr);
  expect([range.contains(address), range.offsetOf(address)]).toEqual([contains, offset]);
});

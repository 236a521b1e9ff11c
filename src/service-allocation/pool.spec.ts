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
])('%s are in two bands', (_what, size, band, want) => expect(bandSplit(size, band)).toBe(want));

const pool = (size: number, split: number, seed = 1) => new Pool(size, split, new SeededRng(seed));
const drain = (from: Pool): number[] => {
  const places: number[] = [];
  for (let place = from.pick(); place !== undefined; place = from.pick()) {
    from.take(place);
    places.push(place);
  }
  return places;
};

it.each([
  [1, 0],
  [33, 0],
  [100, 16],
  [254, 16],
  [300, 64],
])('%i places, %i of them kept back: each once, those kept back last', (size, split) => {
  const places = drain(pool(size, split));
  expect(new Set(places).size).toBe(size);
  expect(Math.min(...places)).toBe(0);
  expect(Math.max(...places)).toBe(size - 1);
  expect(places.slice(0, size - split).every((place) => place >= split)).toBe(true);
});

it('what is given back can be had again', () => {
  const full = pool(64, 16);
  drain(full);
  full.free(40);
  full.free(3);
  expect([full.pick(), full.isTaken(40), full.isTaken(41)]).toEqual([40, false, true]);
  full.take(40);
  expect(full.pick()).toBe(3);
});

it('passes over what is not usable', () => {
  expect(pool(64, 0).pick((place) => place === 63)).toBe(63);
  expect(pool(64, 0).pick(() => false)).toBeUndefined();
});

it('begins anywhere', () => {
  const firsts = Array.from({ length: 50 }, (_, seed) => pool(1000, 0, seed).pick());
  expect(new Set(firsts).size).toBeGreaterThan(40);
});

it.each<[string, bigint, string, string]>([
  ['10.0.0.0/24', 254n, '10.0.0.1', '10.0.0.254'],
  ['10.96.0.7/12', 2n ** 20n - 2n, '10.96.0.1', '10.111.255.254'],
  ['10.0.0.0/30', 2n, '10.0.0.1', '10.0.0.2'],
  ['fd00::/120', 255n, 'fd00::1', 'fd00::ff'],
  ['fd00:10:96::/112', 65535n, 'fd00:10:96::1', 'fd00:10:96::ffff'],
])('%s has %d addresses for services', (cidr, usable, first, last) => {
  const range = new AddressRange(cidr);
  expect([range.usable, range.addressAt(0n), range.addressAt(usable - 1n)]).toEqual([usable, first, last]);
  expect([range.placeOf(first), range.placeOf(last)]).toEqual([0n, usable - 1n]);
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
])('%s: %s', (cidr, address, isIn, place) => {
  const range = new AddressRange(cidr);
  expect([range.contains(address), range.placeOf(address)]).toEqual([isIn, place]);
});

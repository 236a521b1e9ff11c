import { compareAllocations, type Allocation, type Holder } from './compare-allocations.js';

const service = (name: string) => ({ namespace: 'd', name });
const holder = (name: string, ...names: string[]): Holder => ({ service: service(name), names: new Set(names) });
const allocation = (name: string, of: string | undefined, isManaged = true): Allocation => ({
  name,
  service: of === undefined ? undefined : service(of),
  isManaged,
});
const missing = (name: string, of: string) => ({ name, service: service(of) });
const contested = (name: string, ...of: string[]) => ({ name, services: of.map(service) });

// prettier-ignore
it.each<[string, Holder[], Allocation[], object]>([
  ['no Services, no IPAddresses', [], [], {}],
  ['IPAddresses of all addresses', [holder('a', '1', '2')], [allocation('1', 'a'), allocation('2', 'a')], {}],
  ['an address without an IPAddress is missing', [holder('a', '1', '2')], [allocation('1', 'a')], { missing: [missing('2', 'a')] }],
  ['an IPAddress of an unknown Service is leaked', [], [allocation('1', 'a')], { leaked: ['1'] }],
  ['an IPAddress that its Service does not have is leaked', [holder('a', '2')], [allocation('1', 'a'), allocation('2', 'a')], { leaked: ['1'] }],
  ['an IPAddress that the server does not manage stays', [], [allocation('1', 'a', false)], {}],
  ['an unmanaged IPAddress of no Service stays', [], [allocation('1', undefined, false)], {}],
  ['an address of two Services with an IPAddress is contested', [holder('a', '1'), holder('b', '1')], [allocation('1', 'b')], { contested: [contested('1', 'a', 'b')] }],
  ['an address of two Services without an IPAddress is missing and contested', [holder('a', '1'), holder('b', '1')], [], { missing: [missing('1', 'a')], contested: [contested('1', 'a', 'b')] }],
  ['an IPAddress of the wrong Service is leaked', [holder('a', '1'), holder('b')], [allocation('1', 'b')], { leaked: ['1'] }],
  ['an unmanaged IPAddress of another Service is contested', [holder('a', '1')], [allocation('1', 'b', false)], { contested: [contested('1', 'a', 'b')] }],
  ['an unmanaged IPAddress of no Service for an address in use is contested', [holder('a', '1')], [allocation('1', undefined, false)], { contested: [contested('1', 'a')] }],
])('%s', (_what, holders, allocations, want) =>
  expect(compareAllocations(holders, allocations)).toEqual({ missing: [], leaked: [], contested: [], ...want }),
);

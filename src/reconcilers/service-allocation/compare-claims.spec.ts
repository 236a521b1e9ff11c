import { compareClaims, type Claim, type Holder } from './compare-claims.js';

const owner = (name: string) => ({ namespace: 'd', name });
const holder = (name: string, ...names: string[]): Holder => ({ owner: owner(name), names: new Set(names) });
const claim = (name: string, of: string | undefined, isManaged = true): Claim => ({
  name,
  owner: of === undefined ? undefined : owner(of),
  isManaged,
});
const missing = (name: string, of: string) => ({ name, owner: owner(of) });
const contested = (name: string, ...of: string[]) => ({ name, owners: of.map(owner) });

// prettier-ignore
it.each<[string, Holder[], Claim[], object]>([
  ['no Services, no claims', [], [], {}],
  ['claims of all names', [holder('a', '1', '2')], [claim('1', 'a'), claim('2', 'a')], {}],
  ['a name without a claim is missing', [holder('a', '1', '2')], [claim('1', 'a')], { missing: [missing('2', 'a')] }],
  ['a claim of an unknown Service is leaked', [], [claim('1', 'a')], { leaked: ['1'] }],
  ['a claim that its Service does not have is leaked', [holder('a', '2')], [claim('1', 'a'), claim('2', 'a')], { leaked: ['1'] }],
  ['a claim that the server does not manage stays', [], [claim('1', 'a', false)], {}],
  ['an unmanaged claim of no Service stays', [], [claim('1', undefined, false)], {}],
  ['a name of two Services with a claim is contested', [holder('a', '1'), holder('b', '1')], [claim('1', 'b')], { contested: [contested('1', 'a', 'b')] }],
  ['a name of two Services without a claim is missing and contested', [holder('a', '1'), holder('b', '1')], [], { missing: [missing('1', 'a')], contested: [contested('1', 'a', 'b')] }],
  ['a claim of the wrong Service is leaked', [holder('a', '1'), holder('b')], [claim('1', 'b')], { leaked: ['1'] }],
  ['an unmanaged claim of another Service is contested', [holder('a', '1')], [claim('1', 'b', false)], { contested: [contested('1', 'a', 'b')] }],
  ['an unmanaged claim of no Service for a name in use is contested', [holder('a', '1')], [claim('1', undefined, false)], { contested: [contested('1', 'a')] }],
])('%s', (_what, holders, claims, want) =>
  expect(compareClaims(holders, claims)).toEqual({ missing: [], leaked: [], contested: [], ...want }),
);

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
  ['nothing', [], [], {}],
  ['as it should be', [holder('a', '1', '2')], [claim('1', 'a'), claim('2', 'a')], {}],
  ['no claim', [holder('a', '1', '2')], [claim('1', 'a')], { missing: [missing('2', 'a')] }],
  ['no such service', [], [claim('1', 'a')], { leaked: ['1'] }],
  ['a service that has another one', [holder('a', '2')], [claim('1', 'a'), claim('2', 'a')], { leaked: ['1'] }],
  ['an address that is nobody else’s business', [], [claim('1', 'a', false)], {}],
  ['an address of something that is no service', [], [claim('1', undefined, false)], {}],
  ['two have it, one claims it', [holder('a', '1'), holder('b', '1')], [claim('1', 'b')], { contested: [contested('1', 'a', 'b')] }],
  ['two have it, nobody claims it', [holder('a', '1'), holder('b', '1')], [], { missing: [missing('1', 'a')], contested: [contested('1', 'a', 'b')] }],
  ['claimed for the wrong one', [holder('a', '1'), holder('b')], [claim('1', 'b')], { leaked: ['1'] }],
  ['kept by somebody for himself', [holder('a', '1')], [claim('1', 'b', false)], { contested: [contested('1', 'a', 'b')] }],
  ['kept by somebody for what is no service', [holder('a', '1')], [claim('1', undefined, false)], { contested: [contested('1', 'a')] }],
])('%s', (_what, holders, claims, want) =>
  expect(compareClaims(holders, claims)).toEqual({ missing: [], leaked: [], contested: [], ...want }),
);

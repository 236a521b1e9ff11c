import { ApiError } from './api-error.js';
import { fnv1a64 } from './fnv.js';
import { parseShardSelector } from './shard-selector.js';

const hex = (text: string) => {
  const { high, low } = fnv1a64(text);
  return high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0');
};

/** FNV-1a as specified, with bigints. */
function slowly(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(16).padStart(16, '0');
}

describe('fnv1a64', () => {
  // Official test vectors.
  it.each([
    ['', 'cbf29ce484222325'],
    ['a', 'af63dc4c8601ec8c'],
    ['foobar', '85944171f73967e8'],
  ])('%j', (text, want) => expect(hex(text)).toBe(want));

  it('equals the specification for random texts', () => {
    for (let n = 0; n < 2000; n++) {
      const text = `${n}-ä€😀`.repeat((n % 5) + 1).slice(n % 7);
      expect([text, hex(text)]).toEqual([text, slowly(text)]);
    }
  });
});

const uid = 'object.metadata.uid';
const namespace = 'object.metadata.namespace';
const range = (field: string, start: string, end: string) => `shardRange(${field}, '0x${start}', '0x${end}')`;
const all = range(uid, '0'.repeat(16), `1${'0'.repeat(16)}`);
const lower = range(uid, '0'.repeat(16), `8${'0'.repeat(15)}`);
const upper = range(uid, `8${'0'.repeat(15)}`, `1${'0'.repeat(16)}`);

describe('parseShardSelector', () => {
  const uids = Array.from({ length: 500 }, (_, n) => `c0ffee-${n}`);
  const chosen = (text: string) => uids.filter((one) => parseShardSelector(text).matches({ uid: one, namespace: 'x' }));

  it('two halves contain every object exactly once', () => {
    expect(chosen(all)).toEqual(uids);
    expect([...chosen(lower), ...chosen(upper)].sort()).toEqual([...uids].sort());
    expect(chosen(lower).every((one) => slowly(one) < '8')).toBe(true);
    expect(chosen(lower).length).toBeGreaterThan(150);
  });

  it('matches the union of ranges', () => {
    expect(chosen(`${lower}||${upper}`)).toEqual(uids);
    expect(chosen(`  ${upper}  ||  ${upper}  `)).toEqual(chosen(upper));
  });

  it('includes the start and excludes the end', () => {
    const { high, low } = fnv1a64('x');
    const text = (add: number) => high.toString(16).padStart(8, '0') + (low + add).toString(16).padStart(8, '0');
    const holds = (start: string, end: string) =>
      parseShardSelector(range(uid, start, end)).matches({ uid: 'x', namespace: '' });
    expect([holds(text(0), text(1)), holds(text(-1), text(0)), holds(text(1), text(2))]).toEqual([true, false, false]);
  });

  it('hashes namespaces, and absent fields as empty', () => {
    const { high, low } = fnv1a64('');
    const start = high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0');
    const end = high.toString(16).padStart(8, '0') + (low + 1).toString(16).padStart(8, '0');
    const empty = parseShardSelector(range(namespace, start, end));
    expect(empty.matches({ namespace: '' })).toBe(true);
    expect(empty.matches({ namespace: 'default', uid: '' })).toBe(false);
    expect(parseShardSelector(range(uid, start, end)).matches({ namespace: 'default' })).toBe(true);
  });

  it.each([
    ['x', /"x" is not of the form/],
    ['', /is not of the form/],
    [`${lower} ||`, /"" is not of the form/],
    [`${lower} && ${upper}`, /is not of the form/],
    [`${lower} | ${upper}`, /is not of the form/],
    [lower.replaceAll("'", ''), /is not of the form/],
    [range('object.metadata.name', '0'.repeat(16), '1'.repeat(16)), /unknown field path "object.metadata.name"/],
    [range('metadata.uid', '0'.repeat(16), '1'.repeat(16)), /unknown field path/],
    [range('constructor', '0'.repeat(16), '1'.repeat(16)), /unknown field path/],
    [`${lower} || ${upper.replace(uid, namespace)}`, /same field path/],
    [range(uid, '0'.repeat(15), '1'.repeat(16)), /the start "0x0{15}" is not/],
    [range(uid, `1${'0'.repeat(16)}`, `1${'0'.repeat(16)}`), /the start "0x10{16}" is not/],
    [range(uid, '0'.repeat(16), `1${'0'.repeat(15)}1`), /the end "0x10{15}1" is neither/],
    [range(uid, '0'.repeat(16), 'F'.repeat(16)), /the end "0xF{16}" is neither/],
    [range(uid, '1'.repeat(16), '1'.repeat(16)), /is not below the end/],
    [range(uid, '2'.repeat(16), '1'.repeat(16)), /is not below the end/],
  ])('%s is rejected', (text, message) => {
    expect(() => parseShardSelector(text)).toThrow(ApiError);
    expect(() => parseShardSelector(text)).toThrow(message);
  });
});

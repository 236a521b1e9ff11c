import { Catalog } from '../catalog/catalog.js';
import { StoredProtobuf } from '../codec/protobuf.js';
import { namingProfile } from '../config/naming-profile.js';
import type { KvStore } from '../storage/kv-store.js';
import { MemoryStore } from '../storage/backends/memory/memory-store.js';
import { NodePortMap, portBits, portsOf } from './node-port-map.js';

const range = { first: 30_000, last: 32_767 };
const key = '/registry/ranges/servicenodeports';
const types = new Catalog(namingProfile('kubernetes'));
const dependencies = (kv: KvStore, storageMediaType: 'json' | 'protobuf' = 'protobuf') => ({
  kv,
  root: '/registry/',
  protobuf: new StoredProtobuf(() => types),
  storageMediaType,
});
const map = (kv: KvStore, used: number[] = [], media: 'json' | 'protobuf' = 'protobuf') =>
  new NodePortMap(dependencies(kv, media), range, () => Promise.resolve(new Set(used)));
const valueOf = async (kv: KvStore) => (await kv.get(key)).item!.value;

// Recorded from kube-apiserver 1.36: the ports that are taken, and the value of the key.
const head = 'azhzAAoVCgJ2MRIPUmFuZ2VBbGxvY2F0aW9u';
it.each<[string, number[], string | number]>([
  ['no port', [], `${head}EiEKEAoAEgAaACIAKgAyADgAQgASCzMwMDAwLTMyNzY3GgAaACIA`],
  ['the lowest port', [30_000], `${head}EiIKEAoAEgAaACIAKgAyADgAQgASCzMwMDAwLTMyNzY3GgEBGgAiAA==`],
  ['the highest port', [30_000, 32_767], 414],
  ['a byte boundary', [30_000, 30_007, 30_008, 32_767], 414],
  ['ports with gaps', [30_001, 30_053, 32_210], 345],
])('the stored value equals that of kube-apiserver: %s', async (_case, ports, want) => {
  const kv = new MemoryStore();
  const portMap = map(kv);
  await portMap.change((taken) => taken.add(1).delete(1));
  expect(await portMap.replace(new Set(ports), await portMap.read())).toBe(true);
  const value = await valueOf(kv);
  expect(typeof want === 'string' ? value.toString('base64') : value.length).toBe(want);
  expect([...(await map(kv).read()).ports]).toEqual(ports);
});

it.each<[number[], string]>([
  [[], ''],
  [[30_000], '01'],
  [[30_007], '80'],
  [[30_008], '0100'],
  [[30_000, 30_009], '0201'],
])('ports %p are encoded as bits %s', (ports, hex) => {
  expect(portBits(new Set(ports), range).toString('hex')).toBe(hex);
  expect([...portsOf(Buffer.from(hex, 'hex'), range)]).toEqual(ports);
});

it('bits beyond the range are ignored', () => {
  expect(portsOf(Buffer.alloc(400, 0xff), range).size).toBe(2768);
});

it('two servers, with protobuf and JSON storage, concurrently allocate 320 different ports', async () => {
  const kv = new MemoryStore();
  const servers = [map(kv), map(kv, [], 'json')];
  const take = (server: NodePortMap) =>
    server.change((taken) => {
      for (let port = range.first; ; port++) if (!taken.has(port)) return (taken.add(port), port);
    });
  const ports = await Promise.all(Array.from({ length: 320 }, (_, at) => take(servers[at % 2]!)));
  expect(new Set(ports).size).toBe(320);
  expect((await servers[0]!.read()).ports).toEqual(new Set(ports));
});

it('a refusal from an outdated map is decided again on the latest', async () => {
  const kv = new MemoryStore();
  const [mine, other] = [map(kv), map(kv)];
  const take = (server: NodePortMap) => server.change((taken) => !taken.has(30_100) && taken.add(30_100).size > 0);
  expect(await take(mine)).toBe(true);
  await other.change((taken) => taken.delete(30_100));
  expect(await take(mine)).toBe(true);
  expect(await take(other)).toBe(false);
});

it.each([
  ['missing', undefined],
  ['no object', Buffer.from('\u0000x')],
  ['of another kind', Buffer.from('{"kind":"Secret","apiVersion":"v1"}')],
  ['of another range', Buffer.from('{"kind":"RangeAllocation","apiVersion":"v1","range":"1-2","data":"AQ=="}')],
])('a map that is %s is computed from all Services', async (_case, value) => {
  const kv = new MemoryStore();
  if (value) await kv.txn([], [{ type: 'put', key, value }]);
  const portMap = map(kv, [30_005]);
  expect((await portMap.read()).needsRepair).toBe(true);
  expect(await portMap.change((taken) => taken.has(30_005))).toBe(true);
  await portMap.change((taken) => taken.add(30_006));
  expect([...(await map(kv).read()).ports]).toEqual([30_005, 30_006]);
});

it('a change without effect does not write', async () => {
  const kv = new MemoryStore();
  const portMap = map(kv);
  await portMap.change((taken) => taken.add(30_001));
  const before = (await kv.get(key)).item!.modRevision;
  await portMap.change((taken) => taken.has(30_001));
  expect((await kv.get(key)).item!.modRevision).toBe(before);
});

import { startTestServer, type TestServer } from '../harness/servers.js';
import type { HttpClient } from '../harness/http-client.js';
import { configMap } from './case.js';

const memory = { store: 'memory', naming: 'kubernetes' } as const;
const path = '/api/v1/namespaces/default/configmaps';
const count = 24;
const middle = `8${'0'.repeat(15)}`;
const field = 'object.metadata.uid';
const range = (start: string, end: string, of = field) => `shardRange(${of}, '0x${start}', '0x${end}')`;
const lower = range('0'.repeat(16), middle);
const upper = range(middle, `1${'0'.repeat(16)}`);
const whole = range('0'.repeat(16), `1${'0'.repeat(16)}`);
const shard = (selector: string) => `labelSelector=shards&shardSelector=${encodeURIComponent(selector)}`;

interface Item {
  readonly metadata: { readonly name: string; readonly uid: string };
}

/** The hash as its definition spells it. */
function hashOf(text: string): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash;
}
const isLower = ({ metadata }: Item) => hashOf(metadata.uid) < 2n ** 63n;
const namesOf = (items: readonly Item[]) => items.map(({ metadata }) => metadata.name);

async function filled(config: Parameters<typeof startTestServer>[1]): Promise<TestServer> {
  const server = await startTestServer(memory, { reconciles: false, ...config });
  for (let n = 0; n < count; n++) {
    const name = `s${String(n).padStart(2, '0')}`;
    await server.admin.post(path, configMap(name, { metadata: { labels: { shards: 'x' } } }));
  }
  return server;
}

describe('shards of a collection', () => {
  let server: TestServer;
  let admin: HttpClient;
  let all: readonly Item[];
  beforeAll(async () => {
    server = await filled({ config: { featureGates: { ShardedListAndWatch: true } } });
    admin = server.admin;
    all = (await admin.get(`${path}?labelSelector=shards`)).body.items;
  });
  afterAll(() => server?.stop());

  it.each([
    ['the lower half', lower, (item: Item) => isLower(item)],
    ['the upper half', upper, (item: Item) => !isLower(item)],
    ['all', whole, () => true],
    ['both halves', `${upper} || ${lower}`, () => true],
  ])('%s is listed with shardInfo', async (_name, selector, belongs) => {
    const { body } = await admin.get(`${path}?${shard(selector)}`);
    expect(namesOf(body.items)).toEqual(namesOf(all.filter(belongs)));
    expect(body.metadata).toMatchObject({ shardInfo: { selector } });
    expect(body.metadata.remainingItemCount).toBeUndefined();
  });

  it('a list without shardSelector has no shardInfo', async () => {
    const { body } = await admin.get(path);
    expect(body.metadata.shardInfo).toBeUndefined();
  });

  it('the hash of the namespace may select', async () => {
    const hash = hashOf('default').toString(16).padStart(16, '0');
    const next = (hashOf('default') + 1n).toString(16).padStart(16, '0');
    const by = (start: string, end: string) =>
      admin.get(`/api/v1/configmaps?${shard(range(start, end, 'object.metadata.namespace'))}`);
    expect(namesOf((await by(hash, next)).body.items)).toEqual(namesOf(all));
    expect(namesOf((await by('0'.repeat(16), hash)).body.items)).toEqual([]);
  });

  it('pages have no remainingItemCount', async () => {
    const seen: string[] = [];
    let more = '';
    do {
      const { body } = await admin.get(`${path}?${shard(lower)}&limit=3${more}`);
      expect(body.metadata).toMatchObject({ shardInfo: { selector: lower } });
      expect(body.metadata.remainingItemCount).toBeUndefined();
      seen.push(...namesOf(body.items));
      more = body.metadata.continue ? `&continue=${body.metadata.continue}` : '';
    } while (more !== '');
    expect(seen).toEqual(namesOf(all.filter(isLower)));
  });

  it.each([
    ['application/json;as=Table;g=meta.k8s.io;v=v1', 'rows'],
    ['application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1', 'items'],
  ])('lists of shards as %s', async (accept, field) => {
    const { body } = await admin.get(`${path}?${shard(lower)}`, { accept });
    expect(body.metadata).toMatchObject({ shardInfo: { selector: lower } });
    expect(body[field]).toHaveLength(all.filter(isLower).length);
  });

  it('shardInfo is encoded in protobuf', async () => {
    const { bytes } = await admin.get(`${path}?${shard(lower)}`, { accept: 'application/vnd.kubernetes.protobuf' });
    expect(bytes.includes(lower)).toBe(true);
  });

  it('a watch sends initial objects, creations, updates and deletions of a shard', async () => {
    const watch = await admin.watch(`${path}?watch=1&${shard(lower)}`);
    const made: Item[] = [];
    for (let n = 0; n < 8; n++) {
      const { body } = await admin.post(path, configMap(`w${n}`, { metadata: { labels: { shards: 'x' } } }));
      made.push(body);
      await admin.patch(`${path}/w${n}`, { data: { a: '1' } });
      await admin.delete(`${path}/w${n}`);
    }
    const own = made.filter(isLower).map(({ metadata }) => metadata.name);
    const expected = [
      ...namesOf(all.filter(isLower)).map((name) => `ADDED ${name}`),
      ...own.flatMap((name) => [`ADDED ${name}`, `MODIFIED ${name}`, `DELETED ${name}`]),
    ];
    const last = namesOf(all.filter(isLower))[0]!;
    await admin.patch(`${path}/${last}`, { data: { end: '1' } });
    const events = await watch.until(({ object }) => object.data?.end === '1');
    watch.close();
    expect(events.map(({ type, object }) => `${type} ${object.metadata.name}`)).toEqual([
      ...expected,
      `MODIFIED ${last}`,
    ]);
  });

  it.each([
    ['x', /^invalid shardSelector: "x" is not of the form/],
    [`${lower} || ${range(middle, '9'.repeat(16), 'object.metadata.namespace')}`, /same field path/],
    [range(middle, middle), /is not below the end/],
  ])('%s is refused (400)', async (selector, message) => {
    for (const watch of ['', '&watch=1&timeoutSeconds=1']) {
      const { body } = await admin.get(`${path}?${shard(selector)}${watch}`);
      expect(body).toMatchObject({ code: 400, reason: 'BadRequest', message: expect.stringMatching(message) });
    }
  });

  it('deletecollection deletes the shard only', async () => {
    expect(await admin.delete(`${path}?${shard(lower)}`)).toMatchObject({ code: 200 });
    const { body } = await admin.get(`${path}?labelSelector=shards`);
    expect(namesOf(body.items)).toEqual(namesOf(all.filter((item) => !isLower(item))));
  });
});

it('shardSelector is ignored with its feature gate off', async () => {
  const server = await filled({});
  try {
    for (const selector of [lower, 'x']) {
      const { body } = await server.admin.get(`${path}?${shard(selector)}`);
      expect(body.items).toHaveLength(count);
      expect(body.metadata.shardInfo).toBeUndefined();
    }
  } finally {
    await server.stop();
  }
});

import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkStore, runCheck, type CheckOptions } from '../../src/check-command.js';
import type { CheckReport } from '../../src/check/check-report.js';
import { defaultConfig } from '../../src/config/load-config.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import { main } from '../../src/main.js';
import { ManualClock, systemClock } from '../../src/std/clock.js';
import type { KvStore, RangeOptions, Write } from '../../src/storage/kv-store.js';
import { describeWithEtcd, EtcdCluster } from '../harness/etcd.js';
import { startTestServer } from '../harness/servers.js';

/**
 * Values as kube-apiserver 1.36 stores them, in protobuf and JSON; those called nameValue have random values in every
 * field.
 */
const recorded = readFileSync(join('test/conformance', 'stored-values.jsonl'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as { key: string; value: string; object: KubeObject });
const valueOf = (key: string) => Buffer.from(recorded.find((row) => row.key === key)!.value, 'base64');

/** Text in values that reports must not contain. */
const mark = 'NEIGHBOURS-OWN-TEXT';
const uid = 'c4b4c0f8-0000-4000-8000-000000000000';
const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
const configMap = (name: string, rest: object = {}) =>
  bytes({
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name, namespace: 'default', uid, creationTimestamp: '2026-01-02T03:04:05Z' },
    ...rest,
  });

/** A CustomResourceDefinition as kube-apiserver stores it: v1beta1, with fields that all versions share in the spec. */
const definition = (plural: string, kind: string, { isEstablished = true } = {}) =>
  bytes({
    kind: 'CustomResourceDefinition',
    apiVersion: 'apiextensions.k8s.io/v1beta1',
    metadata: { name: `${plural}.shop.example.com`, uid, generation: 1, creationTimestamp: '2026-01-02T03:04:05Z' },
    spec: {
      group: 'shop.example.com',
      version: 'v2',
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      scope: 'Namespaced',
      validation: {
        openAPIV3Schema: {
          type: 'object',
          properties: { spec: { type: 'object', properties: { size: { type: 'integer', maximum: 10 } } } },
        },
      },
      versions: [
        { name: 'v2', served: true, storage: true },
        { name: 'v1', served: true, storage: false },
      ],
      conversion: { strategy: 'None' },
      preserveUnknownFields: false,
    },
    status: {
      conditions: ['NamesAccepted', 'Established'].map((type) => ({
        type,
        status: isEstablished ? 'True' : 'False',
        lastTransitionTime: '2026-01-02T03:04:05Z',
        reason: type,
        message: type,
      })),
      acceptedNames: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      storedVersions: ['v1', 'v2'],
    },
  });
const widget = (name: string, version: string, size: unknown, labels: object = {}) =>
  bytes({
    kind: 'Widget',
    apiVersion: `shop.example.com/${version}`,
    metadata: { name, namespace: 'default', uid, labels, generation: 1, creationTimestamp: '2026-01-02T03:04:05Z' },
    spec: { size },
  });

async function put(store: KvStore, values: readonly (readonly [string, Buffer])[]): Promise<void> {
  const writes = values.map(([key, value]): Write => ({ type: 'put', key, value }));
  for (let at = 0; at < writes.length; at += 100) await store.txn([], writes.slice(at, at + 100));
}

async function run(words: readonly string[], options: Partial<CheckOptions> = {}) {
  const printed = { out: '', err: '' };
  const code = await runCheck(
    words,
    { problems: 10, output: 'table', ...options },
    {
      stdout: { write: (text: string) => (printed.out += text) },
      stderr: { write: (text: string) => (printed.err += text) },
    },
  );
  return { code, ...printed };
}

async function reportOf(words: readonly string[], options: Partial<CheckOptions> = {}) {
  const { code, out, err } = await run(words, { ...options, output: 'json' });
  return { code, err, report: JSON.parse(out) as CheckReport };
}

const countsOf = ({ resources }: CheckReport, name: string) => {
  const { objects, readable, converted, valid } = resources.find(({ resource }) => resource === name)!;
  return { objects, readable, converted, valid };
};

describeWithEtcd('keelson check on etcd', () => {
  let etcd: EtcdCluster;
  let store: KvStore;
  let prefixes = 0;
  let prefix: string;
  let words: string[];

  beforeAll(async () => {
    etcd = await EtcdCluster.start();
    store = await etcd.openStore();
  });
  beforeEach(() => {
    prefix = `/check-${++prefixes}`;
    words = [`--etcd-servers=${etcd.storeOptions.servers.join(',')}`, `--etcd-prefix=${prefix}`];
  });
  afterAll(async () => {
    await store.close();
    await etcd.stop();
  });

  const at = (key: string) => key.replace('/registry', prefix);
  const fill = (values: readonly (readonly [string, Buffer])[]) =>
    put(
      store,
      values.map(([key, value]) => [at(key), value] as const),
    );

  it('accepts everything that kube-apiserver stores in protobuf and JSON (exit code 0)', async () => {
    const sound = recorded.filter(({ key }) => !key.endsWith('/nameValue'));
    await fill(sound.map(({ key, value }) => [key, Buffer.from(value, 'base64')] as const));
    const before = await store.revision();
    const { code, report, err } = await reportOf(words);
    expect(report.resources.filter(({ problems }) => problems.length > 0)).toEqual([]);
    expect([code, err, report.isClean]).toEqual([0, '', true]);
    expect(report).toMatchObject({ prefix, revision: before, lastRevision: before, keys: sound.length, others: [] });
    expect(report.totals).toMatchObject({ objects: sound.length, readable: sound.length, valid: sound.length });
    expect(countsOf(report, 'configmaps')).toEqual({ objects: 2, readable: 2, converted: 2, valid: 2 });
    expect(countsOf(report, 'customresourcedefinitions').converted).toBe(0);
    expect((await run(words)).out).toMatch(/^configmaps +2 +2 +2 +2 +0$/m);
  });

  it('--storage-media-type=protobuf: protobuf is not counted as converted', async () => {
    await fill([['/registry/configmaps/beside-def/rich', valueOf('/registry/configmaps/beside-def/rich')]]);
    const protobuf = '--storage-media-type=application/vnd.kubernetes.protobuf';
    const { report } = await reportOf([...words, protobuf]);
    expect(countsOf(report, 'configmaps')).toEqual({ objects: 1, readable: 1, converted: 0, valid: 1 });
  });

  it('decodes every field, and names values that an update would reject', async () => {
    const odd = recorded.filter(({ key }) => key.endsWith('/nameValue'));
    await fill(odd.map(({ key, value }) => [key, Buffer.from(value, 'base64')] as const));
    const { code, report } = await reportOf(words);
    expect([code, report.totals.objects, report.totals.readable, report.totals.valid]).toEqual([
      1,
      odd.length,
      odd.length,
      0,
    ]);
    const [problem] = report.resources.find(({ resource }) => resource === 'runtimeclasses')!.problems;
    expect(problem).toMatchObject({ key: at('/registry/runtimeclasses/nameValue'), type: 'invalid' });
    expect(problem!.reason).toContain('metadata.name: Invalid value: "nameValue"');
  });

  describe('unusable values', () => {
    const rich = valueOf('/registry/configmaps/beside-def/rich');
    const bad: readonly (readonly [name: string, value: Buffer, type: string, reason: RegExp])[] = [
      ['garbage', bytes(`\u0000${mark}`), 'unreadable', /./],
      ['empty', Buffer.alloc(0), 'unreadable', /./],
      ['truncated-json', configMap('truncated-json', { data: { a: mark } }).subarray(0, -5), 'unreadable', /./],
      ['truncated-protobuf', rich.subarray(0, -20), 'unreadable', /./],
      [
        'kind',
        bytes({ kind: 'Gadget', apiVersion: 'v1', metadata: {} }),
        'unreadable',
        /no kind "Gadget" of version "v1"/,
      ],
      ['no-metadata', bytes({ kind: 'ConfigMap', apiVersion: 'v1' }), 'unreadable', /an object of another name/],
      ['foreign', configMap('other'), 'unreadable', /an object of another name/],
      ['encrypted', bytes(`k8s:enc:aescbc:v1:key1:${mark}`), 'unreadable', /encrypted at rest \(provider aescbc\)/],
      ['newer', configMap('newer', { futureField: 1 }), 'unknownFields', /does not know: futureField$/],
      ['invalid', configMap('invalid', { data: { 'a b': mark } }), 'invalid', /^data\[a b\]: Invalid value: "a b"/],
    ];
    const sound = ['good', 'better'].map((name) => [name, configMap(name, { data: { a: 'b' } })] as const);

    beforeEach(() =>
      fill([...bad, ...sound].map(([name, value]) => [`/registry/configmaps/default/${name}`, value] as const)),
    );

    it('each key is listed with its reason and without its value (exit code 1)', async () => {
      const { code, report } = await reportOf(words);
      expect(code).toBe(1);
      expect(countsOf(report, 'configmaps')).toEqual({
        objects: bad.length + sound.length,
        readable: 2 + sound.length,
        converted: 1,
        valid: sound.length,
      });
      const [{ problems }] = report.resources as [CheckReport['resources'][number]];
      expect(problems).toHaveLength(bad.length);
      for (const [name, , type, reason] of bad) {
        const problem = problems.find(({ key }) => key === at(`/registry/configmaps/default/${name}`));
        expect(problem).toMatchObject({ type, reason: expect.stringMatching(reason) });
      }
      const { out } = await run(words);
      expect(out).not.toContain(mark);
      expect(out).toContain(
        `${prefix}/configmaps/default/foreign: cannot be read: the value is an object of another name`,
      );
      expect(out).toMatch(/^Of 12 objects: 8 cannot be read; 2 cannot be updated without a correction\.$/m);
    });

    it('--problems limits the list, --all lists everything', async () => {
      const few = await run(words, { problems: 2 });
      expect(few.out.match(/: cannot be read: /g)).toHaveLength(2);
      expect(few.out).toContain(`… and ${bad.length - 2} more; --all lists every one`);
      const all = await run(words, { problems: 2, all: true });
      expect(all.out.match(/: (cannot be read|cannot be written|not valid): /g)).toHaveLength(bad.length);
      expect([few.code, all.code]).toEqual([1, 1]);
    });
  });

  describe('keys of unknown resources', () => {
    it('are counted by prefix and are not a problem (exit code 0)', async () => {
      await fill([
        ['/registry/masterleases/192.0.2.1', bytes(mark)],
        ['/registry/ranges/serviceips', bytes(mark)],
        ['/registry/ranges/servicenodeports', bytes(mark)],
        ['/registry/things.example.com/things/default/a', bytes({ kind: 'Thing' })],
        ['/registry/things.example.com/things/default/b', bytes({ kind: 'Thing' })],
        ['/registry/odd\u001b[2J/x', bytes('')],
        ['/registry/\udcff', bytes('')],
        ['/registry/', bytes('')],
      ]);
      const { code, report } = await reportOf(words);
      expect([code, report.keys, report.totals.objects]).toEqual([0, 8, 0]);
      const names = Object.fromEntries(report.others.map(({ name, keys }) => [name, keys]));
      expect(names).toMatchObject({ masterleases: 1, ranges: 2, 'things.example.com/things': 2, '(no name)': 1 });
      const { out } = await run(words);
      expect(out).toMatch(/things\.example\.com\/things +2 {2}no CustomResourceDefinition has this resource/);
      expect(out).toContain('odd\\x1b[2J');
      expect(out).toContain('\\xff');
      expect(out).not.toContain('\u001b');
    });

    it('with encrypted values are problems (exit code 1)', async () => {
      await fill([['/registry/things.example.com/things/default/a', bytes(`k8s:enc:secretbox:v1:k:${mark}`)]]);
      const { code, out } = await run(words);
      expect(code).toBe(1);
      expect(out).toContain('cannot be read: encrypted at rest (provider secretbox)');
      expect(out).toContain('1 value of no known resource cannot be read');
    });

    it('outside of the prefix are not read', async () => {
      await put(store, [[`${prefix}-other/configmaps/default/a`, bytes(mark)]]);
      const { code, report, ...rest } = await reportOf(words);
      expect([code, report.keys]).toEqual([0, 0]);
      expect(rest.err).toBe('');
      expect((await run(words)).out).toContain(`There are no keys under ${prefix}: is --etcd-prefix right?`);
    });
  });

  it('custom objects are decoded by the definitions in the same etcd, in every stored version', async () => {
    const crds = '/registry/apiextensions.k8s.io/customresourcedefinitions';
    await fill([
      [`${crds}/widgets.shop.example.com`, definition('widgets', 'Widget')],
      [`${crds}/gadgets.shop.example.com`, definition('gadgets', 'Gadget', { isEstablished: false })],
      ['/registry/shop.example.com/widgets/default/a', widget('a', 'v2', 1)],
      ['/registry/shop.example.com/widgets/default/b', widget('b', 'v1', 1)],
      // Too large for a create, and accepted in an update that does not change it.
      ['/registry/shop.example.com/widgets/default/huge', widget('huge', 'v2', 11)],
      ['/registry/shop.example.com/widgets/default/labelled', widget('labelled', 'v2', 1, { a: 'b c' })],
      ['/registry/shop.example.com/widgets/default/v3', widget('v3', 'v3', 1)],
      ['/registry/shop.example.com/gadgets/default/a', widget('a', 'v2', 1)],
    ]);
    const { code, report } = await reportOf(words);
    expect(code).toBe(1);
    expect(countsOf(report, 'customresourcedefinitions')).toMatchObject({ objects: 2, readable: 2, valid: 2 });
    expect(report.resources.find(({ resource }) => resource === 'widgets')).toMatchObject({
      group: 'shop.example.com',
      kind: 'Widget',
      isCustom: true,
      ...{ objects: 5, readable: 4, converted: 1, valid: 3 },
      problems: [
        { type: 'invalid', reason: expect.stringMatching(/^metadata\.labels: Invalid value: "b c": /) },
        { type: 'unreadable', reason: 'no kind "Widget" of version "shop.example.com/v3" belongs to this resource' },
      ],
    });
    expect(report.others).toMatchObject([
      { name: 'shop.example.com/gadgets', keys: 1, note: expect.stringContaining('is not established') },
    ]);
  });

  it('resources that are served only with --runtime-config are named', async () => {
    const lease = {
      kind: 'LeaseCandidate',
      apiVersion: 'coordination.k8s.io/v1beta1',
      metadata: { name: 'a', namespace: 'default', uid },
      spec: { leaseName: 'a', binaryVersion: '1.0.0', emulationVersion: '1.0.0', strategy: 'OldestEmulationVersion' },
    };
    await fill([['/registry/leasecandidates/default/a', bytes(lease)]]);
    const flag = '--runtime-config=coordination.k8s.io/v1beta1=true';
    expect((await run(words)).out).toContain(`leasecandidates.coordination.k8s.io: ${flag}`);
    expect((await run([...words, flag])).out).not.toContain('only served with a flag');
  });

  it('10,000 objects are read in pages at one revision, and nothing is written', async () => {
    await fill(
      Array.from({ length: 10_000 }, (_, n): [string, Buffer] => {
        const name = `c${n}`;
        const value = configMap(name, { data: { text: 'x'.repeat(500), number: String(n) } });
        return [`/registry/configmaps/default/${name}`, value];
      }),
    );
    const leases = async () => {
      const answer = await fetch(`${etcd.storeOptions.servers[0]}/v3/lease/leases`, { method: 'POST', body: '{}' });
      return ((await answer.json()) as { leases?: unknown[] }).leases ?? [];
    };
    const before = await store.revision();
    const begin = performance.now();
    const { code, report } = await reportOf(words);
    process.stderr.write(`check of 10,000 ConfigMaps: ${((performance.now() - begin) / 1000).toFixed(1)} s\n`);
    expect([code, report.keys, report.totals.valid]).toEqual([0, 10_000, 10_000]);
    expect([report.revision, report.lastRevision]).toEqual([before, before]);
    expect(await store.revision()).toBe(before);
    expect(await leases()).toEqual([]);
  });

  it('continues at a later revision if history is compacted, and reports progress', async () => {
    await fill(
      Array.from(
        { length: 80 },
        (_, n) => [`/registry/configmaps/default/c${n + 10}`, configMap(`c${n + 10}`)] as const,
      ),
    );
    const clock = new ManualClock();
    let ranges = 0;
    const compacting: KvStore = Object.assign(Object.create(store) as KvStore, {
      async range(from: string, options?: RangeOptions) {
        clock.advance(1000);
        if (++ranges === 4) {
          await fill([['/registry/configmaps/default/c10', configMap('c10', { data: { later: 'yes' } })]]);
          await store.compact(await store.revision());
        }
        return store.range(from, options);
      },
    });
    const config = defaultConfig({ storage: { backend: 'etcd3', etcd: { ...etcd.storeOptions, prefix } } });
    const before = await store.revision();
    const lines: string[] = [];
    const report = await checkStore({ ...config, limits: { ...config.limits, storePageItems: 10 } }, compacting, {
      problemsMax: 10,
      clock,
      progress: (line) => lines.push(line),
    });
    // One page of definitions; 10, 20, none after compaction, and 10, 20, 20 at the later revision.
    expect(ranges).toBe(7);
    expect(report).toMatchObject({ keys: 80, revision: before, lastRevision: before + 1, isClean: true });
    expect(await store.revision()).toBe(before + 1);
    expect(lines).toHaveLength(ranges);
    expect(lines[0]).toBe('waiting for the first page of keys');
    // The last page is requested before the one before it is checked.
    expect(lines.at(-1)).toMatch(/^40 of 80 keys read \(50 %, \d+\/s\), 0 problems so far$/);
  });

  it('sends no transaction, compaction or watch to the store', async () => {
    await fill([['/registry/configmaps/default/a', configMap('a')]]);
    const writes: string[] = [];
    const spied: KvStore = Object.assign(Object.create(store) as KvStore, {
      txn: async () => void writes.push('txn'),
      compact: async () => void writes.push('compact'),
      watch: () => void writes.push('watch'),
    });
    const config = defaultConfig({ storage: { backend: 'etcd3', etcd: { ...etcd.storeOptions, prefix } } });
    const options = { problemsMax: 1, clock: systemClock, progress: () => undefined };
    expect((await checkStore(config, spied, options)).keys).toBe(1);
    expect(writes).toEqual([]);
  });
});

describeWithEtcd('keelson check on etcd with TLS', () => {
  it('uses the client certificate of the etcd flags, and names the flags in the error without it (exit code 2)', async () => {
    const etcd = await EtcdCluster.start(1, { tls: true });
    try {
      const { servers, caFile, certFile, keyFile } = etcd.storeOptions;
      const store = await etcd.openStore();
      await put(store, [['/registry/configmaps/default/a', configMap('a')]]);
      await store.close();
      const flags = [`--etcd-servers=${servers[0]}`, `--etcd-cafile=${caFile}`];
      const pair = [`--etcd-certfile=${certFile}`, `--etcd-keyfile=${keyFile}`];
      const { code, report } = await reportOf([...flags, ...pair]);
      expect([code, report.totals.valid]).toEqual([0, 1]);
      const refused = await run(flags);
      expect([refused.code, refused.out]).toEqual([2, '']);
      expect(refused.err.trimEnd().split('\n').at(-1)).toMatch(
        /^keelson check: etcd at https:.*--etcd-certfile and --etcd-keyfile right\?$/,
      );
    } finally {
      await etcd.stop();
    }
  });
});

describe('keelson check --data-dir', () => {
  it('reads the store of a stopped server, changes nothing, and is refused while a server runs (exit code 2)', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'keelson-check-'));
    try {
      const server = await startTestServer({ store: 'embedded', naming: 'kubernetes' }, { directory });
      const path = '/api/v1/namespaces/default/configmaps';
      const body = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' } };
      expect((await server.admin.post(path, body)).code).toBe(201);
      const held = await run([`--data-dir=${directory}`]);
      expect(held.code).toBe(2);
      expect(held.err).toMatch(
        /^keelson check: --data-dir: .* is in use by .*: stop it, or give another --data-dir\n$/,
      );
      await server.stop();

      const before = readFileSync(join(directory, 'store/data.mdb'));
      const { code, report } = await reportOf([`--data-dir=${directory}`]);
      expect([code, report.isClean, report.others.map(({ name }) => name)]).toEqual([0, true, ['ranges']]);
      expect(countsOf(report, 'configmaps')).toMatchObject({ converted: 0 });
      expect(report.totals.objects).toBeGreaterThan(100);
      expect(readFileSync(join(directory, 'store/data.mdb')).equals(before)).toBe(true);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});

describe('keelson check: usage', () => {
  test.each<[string, string[], RegExp]>([
    [
      'no store',
      ['--data-dir=/nowhere'],
      /^keelson check: --data-dir: .* holds no store: give the --data-dir of a server, or --etcd-servers URL/,
    ],
    [
      'a memory store',
      ['--storage-backend=memory'],
      /^keelson check: --storage-backend=memory: give --etcd-servers URL/,
    ],
    [
      'an unknown flag',
      ['--etcd-server=x'],
      /^keelson check: --etcd-server: unknown flag; did you mean --etcd-servers\?/,
    ],
    [
      'a missing file',
      ['--etcd-servers=http://127.0.0.1:1', '--etcd-cafile=/none'],
      /--etcd-cafile: \/none cannot be read: there is no/,
    ],
    [
      'a certificate without its key',
      ['--etcd-servers=http://127.0.0.1:1', '--etcd-keyfile=/k'],
      /--etcd-certfile, --etcd-keyfile: give both or neither/,
    ],
    [
      'an unknown API',
      ['--etcd-servers=http://127.0.0.1:1', '--runtime-config=nope/v1=true'],
      /--runtime-config: .*nope/,
    ],
    ['an unknown format', ['-o', 'yaml'], /argument 'yaml' is invalid/],
    ['an invalid number', ['--problems', 'x'], /--problems: give a whole number/],
  ])('%s: one line, exit code 2', async (_title, words, line) => {
    let err = '';
    const spy = jest.spyOn(process.stderr, 'write').mockImplementation((text) => (err += String(text)) !== '');
    try {
      expect(await main('keelson', ['check', ...words])).toBe(2);
    } finally {
      spy.mockRestore();
    }
    expect(err).toMatch(line);
    expect(err.trimEnd().split('\n')).toHaveLength(1);
  });
});

import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cborEncoder, writeSnapshot } from '../../src/history/snapshot/snapshot-file.js';
import { asFields, asItems } from '../../src/machinery/fields.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import { customResourceDefinition, definitions } from '../harness/custom-definitions.js';
import { printedBy } from '../harness/printed-command.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { until } from '../harness/until.js';

const core = '/api/v1/namespaces/default';
const maps = `${core}/configmaps`;
const customDefinition = customResourceDefinition({
  group: 'example.org',
  plural: 'things',
  kind: 'Thing',
  schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  version: { subresources: { status: {} } },
});
const things = '/apis/example.org/v1/namespaces/default/things';

const isEstablished = (definition: KubeObject | undefined) =>
  asItems(asFields(definition?.['status'])['conditions']).some(
    ({ type, status }) => type === 'Established' && status === 'True',
  );

describe.each(['memory', 'embedded'] as const)('keelson snapshot on %s', (store) => {
  let server: TestServer;
  let directory: string;
  let kubeconfig: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'keelson-snapshots-'));
    server = await startTestServer({ store, naming: 'kubernetes' });
    kubeconfig = join(directory, 'kubeconfig');
    await writeFile(kubeconfig, server.keelson.kubeconfig);
  });
  afterAll(async () => {
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const snapshot = (...words: string[]) => printedBy(['snapshot', ...words, '--kubeconfig', kubeconfig]);
  const at = (name: string) => join(directory, name);
  /** Lines of differences with other fields than those that a created object has anew. */
  const contentLines = (text: string) =>
    text
      .split('\n')
      .filter((line) => line !== '' && !/^(~| +metadata\.(uid|creationTimestamp|generation):)/.test(line));

  it('a restore creates, replaces and deletes objects until the content is that of the snapshot', async () => {
    const { admin } = server;
    await admin.post('/api/v1/namespaces', { metadata: { name: 'shop' } });
    await until(admin, '/api/v1/namespaces/shop/serviceaccounts', 'default', (account) => account !== undefined);
    const owner = (await admin.post(maps, { metadata: { name: 'owner' }, data: { a: '1' } })).body;
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid }];
    await admin.post(`${core}/secrets`, { metadata: { name: 'owned', ownerReferences }, stringData: { a: 'b' } });
    await admin.post('/api/v1/namespaces/shop/configmaps', { metadata: { name: 'inside' } });
    await admin.post(maps, { metadata: { name: 'same' } });
    await admin.post(definitions, customDefinition);
    await until(admin, definitions, 'things.example.org', isEstablished);
    await admin.post(things, {
      apiVersion: 'example.org/v1',
      kind: 'Thing',
      metadata: { name: 't' },
      spec: { size: 3 },
    });
    await admin.put(`${things}/t/status`, {
      ...(await admin.get(`${things}/t`)).body,
      status: { phase: 'Ready' },
    });
    const same = (await admin.get(`${maps}/same`)).body.metadata.resourceVersion;

    const saved = await snapshot('save', at('a'));
    expect(saved).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^\S+: \d+ objects at resourceVersion \d+, in /),
    });
    expect((await stat(at('a'))).mode & 0o777).toBe(0o600);
    expect(await snapshot('diff', at('a'))).toMatchObject({ code: 0, out: '' });

    await admin.delete(`${maps}/owner`);
    await until(admin, `${core}/secrets`, 'owned', (secret) => secret === undefined);
    await admin.patch('/api/v1/namespaces/shop/configmaps/inside', { data: { new: 'value' } });
    await admin.post(maps, { metadata: { name: 'more' } });
    await admin.post('/api/v1/namespaces', { metadata: { name: 'more' } });
    await admin.delete(`${definitions}/things.example.org`);
    await until(admin, definitions, 'things.example.org', (one) => one === undefined);

    const plan = await snapshot('restore', at('a'));
    expect([plan.code, plan.out]).toEqual([1, expect.stringContaining('- ConfigMap default/more\n')]);
    expect((await admin.get(`${maps}/more`)).code).toBe(200);

    const restored = await snapshot('restore', at('a'), '--yes');
    expect([restored.code, restored.err.includes('not restored')]).toEqual([0, false]);
    await until(admin, '/api/v1/namespaces', 'more', (one) => one === undefined);
    const left = await snapshot('diff', at('a'));
    expect(
      contentLines(left.out).filter((line) => !line.includes('ownerReferences') && !line.includes('status.')),
    ).toEqual([]);
    expect((await admin.get(`${things}/t`)).body).toMatchObject({ spec: { size: 3 }, status: { phase: 'Ready' } });
    const [reference] = (await admin.get(`${core}/secrets/owned`)).body.metadata.ownerReferences;
    expect(reference.uid).toBe((await admin.get(`${maps}/owner`)).body.metadata.uid);
    expect((await admin.get(`${maps}/same`)).body.metadata.resourceVersion).toBe(same);
    expect((await snapshot('restore', at('a'), '--yes')).out).toMatch(/^0 to create, \d+ to replace, 0 to delete/);
  });

  it('list names snapshots, and those that are damaged', async () => {
    const whole = await readFile(at('a'));
    await writeFile(at('cut'), whole.subarray(0, whole.length - 20));
    const flipped = Buffer.from(whole);
    flipped[Math.floor(whole.length / 2)]! ^= 1;
    await writeFile(at('flipped'), flipped);
    const { code, out } = await printedBy(['snapshot', 'list', directory]);
    expect(code).toBe(1);
    expect(out).toMatch(/\/a +\d{4}-\S+Z +\d+ +\d+ +v1/);
    expect(out).toMatch(/\/cut .* is damaged: the last item is cut off/);
    expect(out).toMatch(/\/flipped .* is damaged: /);
    expect(out).not.toContain('kubeconfig');
    for (const name of ['cut', 'flipped']) {
      expect(await snapshot('restore', at(name), '--yes')).toMatchObject({ code: 2, out: '' });
      await rm(at(name));
    }
  });

  it('save replaces a snapshot, and no other file without --force', async () => {
    expect(await snapshot('save', kubeconfig)).toMatchObject({
      code: 2,
      err: expect.stringContaining('exists already; name another file, or give --force'),
    });
    expect(await snapshot('save', directory)).toMatchObject({ code: 2, err: expect.stringContaining('is not a file') });
    expect(await snapshot('save', at('absent/a'))).toMatchObject({
      code: 2,
      err: expect.stringContaining('no such file'),
    });
    expect((await snapshot('save', at('a'))).code).toBe(0);
    await writeFile(at('other'), 'x');
    expect((await snapshot('save', at('other'), '--force')).code).toBe(0);
    await symlink(at('nowhere'), at('link'));
    expect(await snapshot('save', at('link'))).toMatchObject({ code: 2 });
    expect((await readdir(directory)).filter((name) => name.endsWith('.part'))).toEqual([]);
    await rm(at('link'));
  });

  const header = { savedAt: '', resourceVersion: '1', serverVersion: '', kinds: ['v1 ConfigMap'] };
  const object = (name: string, more: object = {}) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default' },
    ...more,
  });
  async function* items(...objects: object[]) {
    for (const one of objects) yield one as Record<string, unknown>;
  }

  it.each([
    ['a name that is another path', object('../../x'), /without apiVersion, kind or a valid name/],
    ['a name of dots', object('..'), /without apiVersion, kind or a valid name/],
    ['a namespace that is another path', object('x', { metadata: { name: 'x', namespace: 'a/b' } }), /a valid name/],
    ['no kind', { metadata: { name: 'x' } }, /without apiVersion, kind/],
    [
      'a kind that is not served',
      object('x', { apiVersion: 'a.b/v1', kind: 'C' }),
      /does not serve C.a.b: nothing was written/,
    ],
  ])('a snapshot with %s is refused before anything is written', async (_title, hostile, problem) => {
    await writeSnapshot(at('hostile'), header, items(object('good'), hostile), { force: true });
    expect(await snapshot('restore', at('hostile'), '--yes')).toMatchObject({
      code: 2,
      err: expect.stringMatching(problem),
    });
    expect((await server.admin.get(`${maps}/good`)).code).toBe(404);
  });

  it.each<[string, (encode: (value: unknown) => Buffer) => Buffer, RegExp]>([
    ['an empty file', () => Buffer.alloc(0), /its end is missing/],
    ['text', () => Buffer.from('apiVersion: v1\n'), /is not a snapshot/],
    ['deep nesting', () => Buffer.alloc(100_000, 0x81), /nested deeper than 1000/],
    ['deep tags', () => Buffer.alloc(100_000, 0xc1), /nested deeper than 1000/],
    ['a huge text', () => Buffer.from('7bffffffffffffffff', 'hex'), /more than 16777216 bytes/],
    ['a huge list', () => Buffer.from('9bffffffffffffffff', 'hex'), /cut off/],
    ['a break alone', () => Buffer.from('ff', 'hex'), /a break is not at the end/],
    ['a reserved head', () => Buffer.from('1c', 'hex'), /malformed/],
    [
      'the key __proto__',
      () => Buffer.concat([Buffer.from('a169', 'hex'), Buffer.from('__proto__'), Buffer.from('a0', 'hex')]),
      /__proto__/,
    ],
    [
      'another format',
      (encode) => encode({ kind: 'KeelsonSnapshot', formatVersion: 2 }),
      /another format than 1|end is missing/,
    ],
  ])('%s is refused as a snapshot', async (_title, bytes, problem) => {
    await writeFile(at('hostile'), bytes(await cborEncoder()));
    expect(await snapshot('restore', at('hostile'), '--yes')).toMatchObject({
      code: 2,
      err: expect.stringMatching(problem),
    });
  });
});

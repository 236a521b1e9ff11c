import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeMultiple } from 'cbor-x';
import { customResourceDefinition, definitions } from '../harness/custom-definitions.js';
import { eventually } from '../harness/eventually.js';
import { printedBy } from '../harness/printed-command.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

const core = '/api/v1/namespaces';
const shopMaps = `${core}/shop/configmaps`;
const service = { selector: { app: 'web' }, ports: [{ port: 80 }] };
const container = { name: 'c', image: 'i' };

describe('keelson export and import', () => {
  let servers: TestServer[];
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'keelson-transfer-'));
    servers = await Promise.all([1, 2].map(() => startTestServer({ store: 'memory', naming: 'kubernetes' })));
    await Promise.all(servers.map(({ keelson }, index) => writeFile(at(`config-${index}`), keelson.kubeconfig)));
    const { admin } = servers[0]!;
    await admin.post(core, { metadata: { name: 'shop', labels: { team: 'a' } } });
    const finalizers = ['example.org/hold'];
    const annotations = { kept: 'x', 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
    await admin.post(shopMaps, { metadata: { name: 'a', annotations, finalizers }, data: { a: '1' } });
    await admin.post(`${core}/shop/secrets`, { metadata: { name: 's' }, stringData: { a: 'b' } });
    await admin.post(`${core}/shop/services`, { metadata: { name: 'web' }, spec: service });
    const pod = await admin.post(`${core}/shop/pods`, {
      metadata: { name: 'p' },
      spec: { nodeName: 'n', containers: [container] },
    });
    const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: pod.body.metadata.uid, controller: true };
    await admin.post(shopMaps, { metadata: { name: 'controlled', ownerReferences: [owner] } });
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await rm(directory, { recursive: true, force: true });
  });

  const at = (name: string) => join(directory, name);
  const run = (index: number, ...words: string[]) => printedBy([...words, '--kubeconfig', at(`config-${index}`)]);

  it.each(['yaml', 'cbor'])(
    'a namespace that is exported as %s has the same content in another cluster',
    async (format) => {
      const file = at(`shop.${format}`);
      expect(await run(0, 'export', file, '-n', 'shop', '-o', format)).toMatchObject({ code: 0, out: '' });
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      const target = `copy-${format}`;
      const { code, err } = await run(1, 'import', file, '-n', target);
      expect([code, err]).toEqual([0, expect.stringMatching(/: 5 objects written, 0 skipped, 0 refused/)]);
      const again = await run(1, 'import', file, '-n', target, '--on-conflict', 'fail');
      expect([again.code, again.err]).toEqual([1, expect.stringMatching(/: 0 objects written, 1 skipped, 4 refused/)]);
      expect(again.err).not.toMatch(/refused: Namespace/);
      const { admin } = servers[1]!;
      const read = async (path: string) => (await admin.get(`${core}/${target}${path}`)).body;
      expect((await read('')).metadata.labels).toMatchObject({ team: 'a' });
      const map = await read('/configmaps/a');
      expect([map.data, map.metadata.annotations, map.metadata.finalizers]).toEqual([
        { a: '1' },
        { kept: 'x' },
        undefined,
      ]);
      expect((await read('/secrets/s')).data).toEqual({ a: 'Yg==' });
      expect((await read('/services/web')).spec).toMatchObject({ selector: { app: 'web' } });
      expect((await read('/pods/p')).spec.nodeName).toBeUndefined();
      expect((await admin.get(`${core}/${target}/configmaps/controlled`)).code).toBe(404);
    },
  );

  it('cbor is a sequence that other programs read, and yaml is what kubectl applies', async () => {
    const values = decodeMultiple(await readFile(at('shop.cbor'))) as { kind: string; metadata: { name: string } }[];
    expect(values.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      'Namespace shop',
      'Secret s',
      'ConfigMap a',
      'Pod p',
      'Service web',
    ]);
    expect(await readFile(at('shop.yaml'), 'utf8')).toMatch(/^---\napiVersion: v1\nkind: Namespace\n/);
  });

  it('export leaves files that exist as they are without --force, and writes to the standard output', async () => {
    const refused = await run(0, 'export', at('shop.yaml'), '-n', 'shop');
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('exists already') });
    expect((await run(0, 'export', at('shop.yaml'), '-n', 'shop', '--force', '--controlled')).code).toBe(0);
    expect(await readFile(at('shop.yaml'), 'utf8')).toContain('name: controlled\n');
    const { out } = await run(0, 'export', '-', '-A');
    expect(out.match(/^kind: .*/gm)).toEqual(
      ['Namespace', 'Secret', 'ConfigMap', 'Pod', 'Service'].map((kind) => `kind: ${kind}`),
    );
    expect((await run(0, 'export', at('x'))).code).toBe(2);
  });

  it('custom kinds named as built-in ones keep their content', async () => {
    const { admin } = servers[0]!;
    const group = 'example.org';
    const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    await admin.post(definitions, customResourceDefinition({ group, plural: 'jobs', kind: 'Job', schema }));
    const path = `/apis/${group}/v1/namespaces/default/jobs`;
    await eventually('the kind is served', async () => (await admin.get(path)).code === 200);
    const spec = { selector: { a: 'b' }, template: { metadata: { labels: { 'job-name': 'x' } } } };
    await admin.post(path, { apiVersion: `${group}/v1`, kind: 'Job', metadata: { name: 'own' }, spec });
    const { out } = await run(0, 'export', '-', '-n', 'default');
    expect(out).toMatch(
      /^spec:\n {2}selector:\n {4}a: b\n {2}template:\n {4}metadata:\n {6}labels:\n {8}job-name: x$/m,
    );
  });

  it.each([
    ['fail', 1, { a: '1' }, /refused: ConfigMap default\/exists: .* 409 AlreadyExists/],
    ['skip', 0, { a: '1' }, /1 objects written, 1 skipped, 0 refused/],
    ['apply', 1, { a: '1' }, /refused: ConfigMap default\/exists: .* 409 Conflict/],
    ['overwrite', 0, { a: '2' }, /2 objects written, 0 skipped, 0 refused/],
  ])('--on-conflict %s exits with %i', async (policy, code, data, message) => {
    const { admin } = servers[1]!;
    const maps = `${core}/default/configmaps`;
    await admin.post(maps, { metadata: { name: 'exists' }, data: { a: '1' } });
    const map = (name: string) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace: 'default' },
      data: { a: '2' },
    });
    const items = [map('exists'), map(`new-${policy}`)];
    await writeFile(at('list.json'), JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    const imported = await run(1, 'import', at('list.json'), '--on-conflict', policy);
    expect(imported).toMatchObject({ code, err: expect.stringMatching(message) });
    expect((await admin.get(`${maps}/exists`)).body.data).toEqual(data);
    expect((await admin.get(`${maps}/new-${policy}`)).code).toBe(200);
  });

  it('import writes Leases, which export leaves out', async () => {
    const lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'l', namespace: 'default' },
    };
    await writeFile(at('lease.json'), JSON.stringify({ ...lease, spec: { leaseDurationSeconds: 7 } }));
    expect(await run(1, 'import', at('lease.json'))).toMatchObject({ code: 0 });
    const { body } = await servers[1]!.admin.get('/apis/coordination.k8s.io/v1/namespaces/default/leases/l');
    expect(body.spec).toEqual({ leaseDurationSeconds: 7 });
  });

  it('import -n writes objects of that namespace alone, whatever namespaces the file has', async () => {
    const subject = { kind: 'User', name: 'eve', apiGroup: 'rbac.authorization.k8s.io' };
    const items = [
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'eve', namespace: 'shop' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
        subjects: [subject],
      },
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'without' } },
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'of-system', namespace: 'kube-system' } },
    ];
    await writeFile(at('hostile.json'), JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    const { code, err } = await run(1, 'import', at('hostile.json'), '-n', 'default');
    expect([code, err]).toEqual([0, expect.stringMatching(/left out 1 objects of no namespace\n.*2 objects written/)]);
    const { admin } = servers[1]!;
    const codeOf = async (path: string) => (await admin.get(path)).code;
    expect(await codeOf('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/eve')).toBe(404);
    for (const name of ['without', 'of-system']) {
      expect(await codeOf(`${core}/default/configmaps/${name}`)).toBe(200);
    }
  });

  it('import -n moves the ServiceAccounts of a RoleBinding that are in its namespace', async () => {
    const account = (namespace: string) => ({ kind: 'ServiceAccount', name: 'bot', namespace });
    const user = { kind: 'User', name: 'ann', apiGroup: 'rbac.authorization.k8s.io' };
    const binding = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'bots', namespace: 'shop' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [account('shop'), account('other'), user],
    };
    await writeFile(at('binding.json'), JSON.stringify(binding));
    expect(await run(1, 'import', at('binding.json'), '-n', 'default')).toMatchObject({ code: 0 });
    const path = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings/bots';
    const { body } = await servers[1]!.admin.get(path);
    expect(body.subjects).toEqual([account('default'), account('other'), user]);
  });

  const good = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: good, namespace: default}\n';
  it.each<[string, string | Buffer, RegExp]>([
    ['nothing', '', /it is empty/],
    [
      'a name that is another path',
      `${good}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ../../x}\n`,
      /valid name: ConfigMap ..\/..\/x/,
    ],
    ['a name of dots', `${good}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ..}\n`, /valid name/],
    ['an object twice', `${good}---\n${good}`, /has ConfigMap default\/good twice/],
    [
      'an unknown kind',
      `${good}---\napiVersion: a.b/v1\nkind: C\nmetadata: {name: x}\n`,
      /does not serve C.a.b: nothing was written/,
    ],
    ['carriage returns alone', `${good}---\n${'\r'.repeat(500_000)}#\n---\n- a\n`, /without apiVersion/],
    ['no object', `${good}---\n- a\n`, /without apiVersion/],
    ['broken YAML', `${good}---\na: [1\n`, /after document 1: /],
    ['deep YAML', `${good}---\na: ${'['.repeat(100_000)}\n`, /after document 1: /],
    [
      'aliases of aliases',
      `${good}---\n${['a: &a0 [x, x, x, x, x, x, x, x, x]', ...Array.from({ length: 9 }, (_, n) => `b${n}: &a${n + 1} [${Array(9).fill(`*a${n}`).join(', ')}]`)].join('\n')}\n`,
      /after document 1: /,
    ],
    [
      'the key __proto__',
      `${good}---\n{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "__proto__": {}}\n`,
      /__proto__/,
    ],
    ['deep CBOR', Buffer.alloc(1_000_000, 0xa1), /nested deeper|map keys/],
    ['cut CBOR', Buffer.from('a1', 'hex'), /cut off/],
  ])('a file with %s is refused before anything is written', async (_title, content, problem) => {
    await writeFile(at('hostile'), content);
    expect(await run(1, 'import', at('hostile'))).toMatchObject({ code: 2, err: expect.stringMatching(problem) });
    expect((await servers[1]!.admin.get(`${core}/default/configmaps/good`)).code).toBe(404);
  });

  it('a document of more than 64 MiB is refused', async () => {
    await writeFile(at('huge'), Buffer.alloc(70 * 1024 * 1024, 'a'));
    expect(await run(1, 'import', at('huge'))).toMatchObject({
      code: 2,
      err: expect.stringContaining('a document has more than 67108864 bytes'),
    });
  });
});

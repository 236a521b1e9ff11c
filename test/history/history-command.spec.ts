import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ObjectRevision } from '../../src/history/object-history.js';
import { AuditFiles } from '../harness/audit.js';
import { eventually } from '../harness/eventually.js';
import { printedBy } from '../harness/printed-command.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

const path = '/api/v1/namespaces/default/configmaps';
/** States that the store no longer has are read from memory for a second at most. */
const limits = { snapshotRetentionMs: 0 };
const storage = { etcd: { compactionIntervalMs: 0 } };

describe.each(['memory', 'embedded', 'etcd'] as const)('keelson history on %s', (store) => {
  let server: TestServer;
  let files: AuditFiles;
  let kubeconfig: string;
  const versions: string[] = [];

  beforeAll(async () => {
    files = new AuditFiles('[{level: Metadata}]');
    server = await startTestServer(
      { store, naming: 'kubernetes' },
      { config: { ...files.config(), limits, ...(store !== 'etcd' && { storage }) } },
    );
    kubeconfig = join(files.directory, 'kubeconfig');
    await writeFile(kubeconfig, server.keelson.kubeconfig);
    const { admin } = server;
    // A reconciler creates it, before the objects of the test.
    await eventually('the CA is published', async () => (await admin.get(`${path}/kube-root-ca.crt`)).code === 200);
    const write = async (answer: ReturnType<typeof admin.get>) =>
      versions.push((await answer).body.metadata.resourceVersion as string);
    await write(admin.post(`${path}?fieldManager=painter`, { metadata: { name: 'a' }, data: { colour: 'blue' } }));
    await write(admin.post(path, { metadata: { name: 'b' } }));
    await write(admin.patch(`${path}/a?fieldManager=brush`, { data: { colour: 'green', size: '\u202e1' } }));
    await write(admin.patch(`${path}/a`, { data: { size: null }, metadata: { labels: { 'a.b/c': 'd' } } }));
  });
  afterAll(async () => {
    await server.stop();
    await rm(files.directory, { recursive: true, force: true });
  });

  const history = (...words: string[]) => printedBy(['history', ...words, '--kubeconfig', kubeconfig]);

  it('get prints each revision with manager, user and changed fields', async () => {
    const { code, out } = await history('get', 'configmaps/a', '--audit-log', files.log);
    const lines = out.split('\n');
    expect(lines[0]).toMatch(
      new RegExp(
        `^${versions[0]} +\\d{4}-\\d\\d-\\d\\dT\\S+Z +created +painter \\(Update\\); user kubernetes-admin \\(create, audit [-\\da-f]{36}\\)$`,
      ),
    );
    expect(lines[1]).toMatch(/ changed .*brush \(Update\); user kubernetes-admin \(patch, audit [-\da-f]{36}\)$/);
    expect(lines.slice(2, 4)).toEqual(['    data.colour: "blue" → "green"', '    + data.size: "\\u{202e}1"']);
    expect(lines.slice(5)).toEqual(['    + metadata.labels: {"a.b/c":"d"}', '    - data.size: "\\u{202e}1"', '']);
    expect(code).toBe(0);
  });

  it('get -o json has the same with values', async () => {
    const { out } = await history('get', 'cm', 'a', '-o', 'json');
    const { kind, resource, revisions } = JSON.parse(out) as {
      kind: string;
      resource: string;
      revisions: ObjectRevision[];
    };
    expect([kind, resource]).toEqual(['ObjectHistory', 'configmaps']);
    expect(revisions.map((one) => [one.resourceVersion, one.change, one.fields.length])).toEqual([
      [versions[0], 'created', 0],
      [versions[2], 'changed', 2],
      [versions[3], 'changed', 2],
    ]);
  });

  it('get --at prints the object as it was', async () => {
    const { code, out } = await history('get', 'ConfigMap/a', '--at', versions[1]!, '-o', 'json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a', resourceVersion: versions[0] },
      data: { colour: 'blue' },
    });
    expect((await history('get', 'cm/a', '--at', versions[1]!)).out).toContain('\n  colour: blue\n');
    const absent = await history('get', 'cm/b', '--at', versions[0]!);
    expect(absent).toMatchObject({ code: 1, out: '', err: /^keelson history: configmaps\/b did not exist at/ });
  });

  it('list --at prints the objects as they were', async () => {
    const { out } = await history('list', 'configmaps', '--at', versions[1]!, '-l', '!absent');
    expect(out.split('\n').map((line) => line.split(/ +/)[0])).toEqual(['NAME', 'a', 'b', 'kube-root-ca.crt', '']);
    const yaml = await history('list', 'cm', '-A', '--at', versions[0]!, '-o', 'yaml');
    expect(yaml.out.split('---\n').filter((text) => text.includes('name: b\n'))).toEqual([]);
    const json = await history('list', 'cm', '--at', versions[2]!, '-o', 'json');
    const { items } = JSON.parse(json.out) as { items: { data?: object }[] };
    expect(items[0]!.data).toEqual({ colour: 'green', size: '\u202e1' });
  });

  it('get finds a deleted object, and one that was created again', async () => {
    const { admin } = server;
    await admin.delete(`${path}/b`);
    expect((await history('get', 'cm/b', '--audit-log', files.log)).out).toMatch(
      /^\d+ .* created .*\n\d+ +\d{4}-\S+Z +deleted +user kubernetes-admin \(delete, audit \S+\)\n$/,
    );
    await admin.post(path, { metadata: { name: 'b' } });
    expect((await history('get', 'cm/b')).out.match(/created|deleted/g)).toEqual(['created', 'deleted', 'created']);
  });

  it('get and --at find an object whose name has the characters of selectors', async () => {
    const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
    const created = await server.admin.post(roles, { metadata: { name: 'a,b=c\\d' }, rules: [] });
    expect((await history('get', 'clusterrole/a,b=c\\d')).out).toMatch(/^\d+ .* created .*\n$/);
    const version = created.body.metadata.resourceVersion as string;
    expect((await history('get', 'clusterrole', 'a,b=c\\d', '--at', version)).out).toContain('kind: ClusterRole\n');
  });

  it('values of Secrets are hidden in the text', async () => {
    const secrets = path.replace('configmaps', 'secrets');
    await server.admin.post(secrets, { metadata: { name: 's' }, stringData: { password: 'one' } });
    await server.admin.patch(`${secrets}/s`, { stringData: { password: 'two' } });
    const { out } = await history('get', 'secret/s');
    expect(out).toContain('    data.password: (hidden)\n');
    expect(out).not.toContain(Buffer.from('two').toString('base64'));
  });

  it.each([
    [['get', 'cm'], 2, /give the resource and the name/],
    [['get', 'cm/a/b'], 2, /give the resource and the name/],
    [['get', 'cm/a', '--at', '../1'], 2, /--at: "..\/1" is not a resourceVersion/],
    [['get', 'nothing/a'], 2, /the server has no resource nothing/],
    [['list', 'cm'], 2, /required option '--at <resourceVersion>'/],
  ] as const)('%j fails with exit code %i', async (words, code, problem) => {
    expect(await history(...words)).toMatchObject({ code, out: '', err: expect.stringMatching(problem) });
  });

  if (store === 'memory') {
    it('get of an object that never existed exits with 1', async () => {
      const problem = /has not existed since resourceVersion 1, the oldest one/;
      expect(await history('get', 'cm/absent')).toMatchObject({
        code: 1,
        out: '',
        err: expect.stringMatching(problem),
      });
    });
  }

  it('after a compaction get begins with the oldest state, and older states are refused (410)', async () => {
    const { store } = server.keelson.components;
    await server.admin.patch(`${path}/a`, { data: { last: '1' } });
    await store.compact(await store.revision());
    await server.admin.patch(`${path}/a`, { data: { last: '2' } });
    let printed = await history('get', 'cm/a');
    await eventually('the first state is that of the compaction', async () => {
      printed = await history('get', 'cm/a');
      return printed.out.includes(' existed ') && !printed.out.includes('+ data.last');
    });
    const { out, err } = printed;
    expect(out).toMatch(/^\d+ .* existed .*\n\d+ .* changed .*\n {4}data\.last: "1" → "2"\n$/);
    expect(err).toMatch(/the oldest resourceVersion that the server has is \d+/);
    const old = await history('get', 'cm/a', '--at', versions[0]!);
    expect(old).toMatchObject({ code: 2, err: expect.stringContaining('410 Expired') });
  });
});

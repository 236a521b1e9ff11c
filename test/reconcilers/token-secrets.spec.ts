import type { KubeObject } from '../../src/machinery/kube-object.js';
import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';
import { startOpenKeelson } from '../../src/assembly/start-keelson.js';
import { HttpClient } from '../harness/http-client.js';
import { startTestServer, type NamingName, type TestServer } from '../harness/servers.js';
import { until, untilGone } from '../harness/until.js';

const secrets = '/api/v1/namespaces/default/secrets';
const accounts = '/api/v1/namespaces/default/serviceaccounts';

async function make(admin: HttpClient, collection: string, object: object): Promise<KubeObject> {
  const answer = await admin.post(collection, object);
  expect([answer.code, answer.body.message]).toEqual([201, undefined]);
  return answer.body as KubeObject;
}
const dataOf = (secret: KubeObject | undefined) => (secret?.['data'] ?? {}) as Record<string, string>;
const plain = (base64: string | undefined) => Buffer.from(base64 ?? '', 'base64').toString();
const tokenOf = (secret: KubeObject | undefined) => plain(dataOf(secret)['token']);
const untilFilled = (admin: HttpClient, name: string) =>
  until(admin, secrets, name, (secret) => secret !== undefined && tokenOf(secret) !== '');

describe.each<NamingName>(['kubernetes', 'svc'])('with the naming profile %s', (profile) => {
  let server: TestServer;
  let admin: HttpClient;
  beforeAll(async () => {
    server = await startTestServer({ store: 'memory', naming: profile });
    admin = server.admin;
  });
  afterAll(() => server.stop());

  const label = (name: string) => server.keelson.components.config.naming.label(name);
  const tokenSecret = (name: string, account: string, more: Record<string, string> = {}) => ({
    metadata: { name, annotations: { [label('service-account.name')]: account, ...more } },
    type: label('service-account-token'),
  });
  async function whoIs(token: string) {
    const group = server.keelson.components.config.naming.group('authentication');
    const review = { kind: 'SelfSubjectReview', apiVersion: `${group}/v1` };
    const { code, body } = await server.client({ token }).post(`/apis/${group}/v1/selfsubjectreviews`, review);
    return code === 201 ? (body.status.userInfo as { username: string; uid: string }) : code;
  }

  it('a token Secret gets a token that authenticates its service account until either is deleted', async () => {
    const account = await make(admin, accounts, { metadata: { name: 'robot' } });
    const { uid } = account.metadata;
    expect(dataOf(await make(admin, secrets, tokenSecret('robot-token', 'robot')))).toEqual({});
    const secret = await untilFilled(admin, 'robot-token');
    expect(secret!.metadata.annotations).toEqual({
      [label('service-account.name')]: 'robot',
      [label('service-account.uid')]: uid,
    });
    expect(Object.keys(dataOf(secret)).sort()).toEqual(['ca.crt', 'namespace', 'token']);
    expect(plain(dataOf(secret)['namespace'])).toBe('default');
    expect(plain(dataOf(secret)['ca.crt'])).toBe(server.keelson.ca);
    const token = tokenOf(secret);
    expect(await whoIs(token)).toMatchObject({ username: 'system:serviceaccount:default:robot', uid });

    expect((await admin.delete(`${accounts}/robot`)).code).toBe(200);
    expect(await whoIs(token)).toBe(401);
    await untilGone(admin, secrets, 'robot-token');
    await make(admin, accounts, { metadata: { name: 'robot' } });
    expect(await whoIs(token)).toBe(401);
  });

  it('a field removed from a token Secret is restored, and others are kept', async () => {
    await make(admin, accounts, { metadata: { name: 'keeper' } });
    await make(admin, secrets, { ...tokenSecret('kept', 'keeper'), data: { extra: 'bW9yZQ==' } });
    const first = await untilFilled(admin, 'kept');
    const taken = { data: { 'ca.crt': 'T0xE', namespace: null } };
    expect((await admin.patch(`${secrets}/kept`, taken)).code).toBe(200);
    const second = await until(admin, secrets, 'kept', (secret) => dataOf(secret)['namespace'] !== undefined);
    expect(dataOf(second)).toEqual(dataOf(first));
    expect(dataOf(second)['extra']).toBe('bW9yZQ==');
  });

  it('a token Secret of an absent account, or of another uid, is deleted', async () => {
    await make(admin, accounts, { metadata: { name: 'other' } });
    await make(admin, secrets, tokenSecret('none', 'nobody'));
    await untilGone(admin, secrets, 'none');
    const wrong = { [label('service-account.uid')]: '11111111-2222-3333-4444-555555555555' };
    await make(admin, secrets, tokenSecret('wrong', 'other', wrong));
    await untilGone(admin, secrets, 'wrong');
    await make(admin, secrets, tokenSecret('right', 'other'));
    await untilFilled(admin, 'right');
    await admin.patch(`${secrets}/right`, {
      metadata: { annotations: { [label('service-account.name')]: 'default' } },
    });
    await untilGone(admin, secrets, 'right');
  });

  it('references to deleted Secrets are removed from the service account', async () => {
    await make(admin, accounts, { metadata: { name: 'named' }, secrets: [{ name: 'listed' }, { name: 'more' }] });
    await make(admin, secrets, tokenSecret('listed', 'named'));
    await untilFilled(admin, 'listed');
    await admin.delete(`${secrets}/listed`);
    const names = (account: KubeObject | undefined) =>
      (account?.['secrets'] as { name: string }[] | undefined)?.map(({ name }) => name);
    const left = await until(admin, accounts, 'named', (account) => names(account)?.length === 1);
    expect(names(left)).toEqual(['more']);
  });

  it('Secrets of other types are ignored', async () => {
    const { metadata } = tokenSecret('plain', 'nobody');
    const { resourceVersion } = (await make(admin, secrets, { metadata })).metadata;
    await make(admin, secrets, tokenSecret('after', 'default'));
    await untilFilled(admin, 'after');
    expect((await admin.get(`${secrets}/plain`)).body.metadata.resourceVersion).toBe(resourceVersion);
  });
});

it('changes made while no server ran are handled at the next start', async () => {
  const store = new MemoryStore();
  const own = { 'kubernetes.io/service-account.name': 'robot' };
  const type = 'kubernetes.io/service-account-token';
  const life = async (controllers: string[], use: (admin: HttpClient) => Promise<void>) => {
    const keelson = await startOpenKeelson({ store, config: { reconcilers: { controllers } } });
    const admin = new HttpClient({ url: keelson.url, ca: keelson.ca, ...keelson.client });
    try {
      await use(admin);
    } finally {
      admin.close();
      await keelson.stop();
    }
  };
  try {
    await life(['*', '-serviceaccount-token'], async (admin) => {
      await make(admin, accounts, { metadata: { name: 'robot' } });
      await make(admin, secrets, { metadata: { name: 'empty', annotations: own }, type });
      const nobody = { 'kubernetes.io/service-account.name': 'nobody' };
      await make(admin, secrets, { metadata: { name: 'lost', annotations: nobody }, type });
    });
    await life(['*'], async (admin) => {
      expect(plain(dataOf(await untilFilled(admin, 'empty'))['namespace'])).toBe('default');
      await untilGone(admin, secrets, 'lost');
    });
  } finally {
    await store.close();
  }
});

it('two servers write each token Secret once', async () => {
  const store = new MemoryStore();
  const config = { reconcilers: { leaderElection: 'false' } } as const;
  const servers = await Promise.all([1, 2].map(() => startOpenKeelson({ store, config })));
  const admins = servers.map(({ url, ca, client }) => new HttpClient({ url, ca, ...client }));
  const admin = admins[0]!;
  try {
    const annotations = { 'kubernetes.io/service-account.name': 'default' };
    const { body } = await admin.get(secrets);
    const names = Array.from({ length: 20 }, (_, at) => `t${at}`);
    const type = 'kubernetes.io/service-account-token';
    await Promise.all(
      names.map((name, at) => make(admins[at % 2]!, secrets, { metadata: { name, annotations }, type })),
    );
    for (const name of names) for (const each of admins) await untilFilled(each, name);
    for (const each of admins) {
      // All earlier work has been done before this Secret is handled.
      const name = `last-${admins.indexOf(each)}`;
      await make(each, secrets, { metadata: { name, annotations }, type });
      await untilFilled(each, name);
    }
    await make(admin, secrets, { metadata: { name: 'end' } });
    const watch = await admin.watch(`${secrets}?watch=1&resourceVersion=${body.metadata.resourceVersion}`);
    const seen = new Map<string, string[]>();
    for await (const { type: event, object } of watch) {
      const { name = '' } = object.metadata;
      if (name === 'end') break;
      seen.set(name, [...(seen.get(name) ?? []), event]);
    }
    watch.close();
    expect([...seen]).toHaveLength(22);
    for (const events of seen.values()) expect(events).toEqual(['ADDED', 'MODIFIED']);
  } finally {
    for (const each of admins) each.close();
    for (const server of servers) await server.stop();
    await store.close();
  }
});

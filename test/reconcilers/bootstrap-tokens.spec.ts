import { createHmac } from 'node:crypto';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import { dataOf, isSignedBy, signatureOf, tokenSecret } from '../harness/bootstrap-tokens.js';
import type { HttpClient } from '../harness/http-client.js';
import { startTestServer, type NamingName, type StoreName, type TestServer } from '../harness/servers.js';
import { until, untilGone } from '../harness/until.js';

const secrets = '/api/v1/namespaces/kube-system/secrets';
const configMaps = '/api/v1/namespaces/kube-public/configmaps';
const controllers = ['*', 'bootstrapsigner', 'tokencleaner'];
const kubeconfig = '{"kind":"Config","apiVersion":"v1","clusters":[]}';

async function make(admin: HttpClient, collection: string, object: object): Promise<void> {
  const { code, body } = await admin.post(collection, object);
  expect([code, body.message]).toEqual([201, undefined]);
}
const untilInfo = (admin: HttpClient, holds: (info: KubeObject | undefined) => boolean) =>
  until(admin, configMaps, 'cluster-info', holds);
const fromNow = (ms: number) => `${new Date(Date.now() + ms).toISOString().slice(0, 19)}Z`;

describe('bootstrap tokens', () => {
  let server: TestServer;
  let admin: HttpClient;
  let ids = 0;
  const newId = () => `tok${String(ids++).padStart(3, '0')}`;
  beforeAll(async () => {
    const config = { reconcilers: { controllers, bootstrapSignerKey: 'secret' as const } };
    server = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { config });
    ({ admin } = server);
    await make(admin, configMaps, { metadata: { name: 'cluster-info' }, data: { kubeconfig } });
  });
  afterAll(() => server.stop());

  async function signedToken(data: Record<string, string> = {}): Promise<string> {
    const id = newId();
    await make(admin, secrets, tokenSecret(id, 'tokenSecret', data));
    await untilInfo(admin, (info) => isSignedBy(info, id, 'tokenSecret'));
    return id;
  }
  /** Waits until every change before this call is reflected in the signatures. */
  const settle = signedToken;
  const current = async () => (await admin.get(`${configMaps}/cluster-info`)).body as KubeObject;

  // The cases of upstream's end-to-end suite for bootstrap tokens.
  it('a new token signs cluster-info', async () => {
    const id = await signedToken();
    expect(dataOf(await current())['kubeconfig']).toBe(kubeconfig);
    expect(signatureOf(await current(), id)).not.toBe('');
  });

  it('a changed kubeconfig is signed again', async () => {
    const id = await signedToken();
    const before = signatureOf(await current(), id);
    await admin.patch(`${configMaps}/cluster-info`, { data: { kubeconfig: 'other text' } });
    const after = await untilInfo(admin, (info) => isSignedBy(info, id, 'tokenSecret'));
    expect([dataOf(after)['kubeconfig'], signatureOf(after, id) === before]).toEqual(['other text', false]);
    await admin.patch(`${configMaps}/cluster-info`, { data: { kubeconfig } });
    expect(signatureOf(await untilInfo(admin, (info) => isSignedBy(info, id, 'tokenSecret')), id)).toBe(before);
  });

  it('the signature of a deleted token is removed', async () => {
    const [id, other] = [await signedToken(), await signedToken()];
    expect((await admin.delete(`${secrets}/bootstrap-token-${id}`)).code).toBe(200);
    const info = await untilInfo(admin, (found) => signatureOf(found, id) === '');
    expect(isSignedBy(info, other, 'tokenSecret')).toBe(true);
  });

  it('the Secret of an expired token is deleted', async () => {
    const id = newId();
    await make(admin, secrets, tokenSecret(id, 'tokenSecret', { expiration: fromNow(-3_600_000) }));
    await untilGone(admin, secrets, `bootstrap-token-${id}`);
  });

  it('the Secret of a token that has not expired stays', async () => {
    const id = await signedToken({ expiration: fromNow(3_600_000) });
    const expired = newId();
    await make(admin, secrets, tokenSecret(expired, 'tokenSecret', { expiration: fromNow(-1000) }));
    await untilGone(admin, secrets, `bootstrap-token-${expired}`);
    expect((await admin.get(`${secrets}/bootstrap-token-${id}`)).code).toBe(200);
  });

  it('a token is deleted when it expires, with its signature', async () => {
    const id = await signedToken({ expiration: fromNow(3000) });
    await untilGone(admin, secrets, `bootstrap-token-${id}`);
    await untilInfo(admin, (info) => signatureOf(info, id) === '');
  });

  it('an extended expiration takes effect', async () => {
    const id = await signedToken({ expiration: fromNow(3000) });
    const later = Buffer.from(fromNow(3_600_000)).toString('base64');
    await admin.patch(`${secrets}/bootstrap-token-${id}`, { data: { expiration: later } });
    const expires = await signedToken({ expiration: fromNow(4000) });
    await untilGone(admin, secrets, `bootstrap-token-${expires}`);
    expect((await admin.get(`${secrets}/bootstrap-token-${id}`)).code).toBe(200);
  });

  it.each([
    ['malformed', 'bootstrap-token-bad001', { expiration: 'tomorrow' }],
    ['a date alone', 'bootstrap-token-bad002', { expiration: '2999-01-01' }],
    ['in the past, in a Secret whose name has no id', 'any-name', { expiration: '2020-01-01T00:00:00Z' }],
  ])('a token Secret whose expiration is %s is deleted', async (_what, name, data) => {
    await make(admin, secrets, { ...tokenSecret('bad001', 'tokenSecret', data), metadata: { name } });
    await untilGone(admin, secrets, name);
  });

  it('Secrets of other types and namespaces are neither deleted nor used', async () => {
    const expiration = '2020-01-01T00:00:00Z';
    const opaque = { ...tokenSecret('opaque', 'tokenSecret', { expiration }), type: 'Opaque' };
    await make(admin, secrets, opaque);
    await make(admin, '/api/v1/namespaces/default/secrets', tokenSecret('distnt', 'tokenSecret', { expiration }));
    await make(admin, '/api/v1/namespaces/default/secrets', tokenSecret('distn2', 'tokenSecret'));
    await settle();
    expect((await admin.get(`${secrets}/bootstrap-token-opaque`)).code).toBe(200);
    expect((await admin.get('/api/v1/namespaces/default/secrets/bootstrap-token-distnt')).code).toBe(200);
    expect(Object.keys(dataOf(await current())).filter((key) => /opaque|distn/.test(key))).toEqual([]);
  });

  it.each<[string, object]>([
    ['whose name has no id', { ...tokenSecret('nam001', 'tokenSecret'), metadata: { name: 'token' } }],
    ['whose id is longer', tokenSecret('toolong1', 'tokenSecret')],
    ['with another id than its name', tokenSecret('oth001', 'tokenSecret', { 'token-id': 'oth002' })],
    ['with the id __proto__', tokenSecret('pro001', 'tokenSecret', { 'token-id': '__proto__' })],
    ['with a slash in its id', tokenSecret('sla001', 'tokenSecret', { 'token-id': 'a/b' })],
    ['that may not sign', tokenSecret('not001', 'tokenSecret', { 'usage-bootstrap-signing': 'false' })],
    ['without a secret', tokenSecret('emp001', '')],
  ])('a token Secret %s signs nothing, and the others do', async (_what, secret) => {
    const before = Object.keys(dataOf(await current())).length;
    await make(admin, secrets, secret);
    await settle();
    expect(Object.keys(dataOf(await current()))).toHaveLength(before + 1);
  });

  it('names that are not ids, and values of 3 MiB, are rejected by the server', async () => {
    for (const name of ['bootstrap-token-a/b', 'bootstrap-token-__proto__', 'bootstrap-token-A']) {
      expect((await admin.post(secrets, { ...tokenSecret('x', 'y'), metadata: { name } })).code).toBe(422);
    }
    const large = tokenSecret('lar001', 'x'.repeat(3 * 1024 * 1024));
    expect([413, 422]).toContain((await admin.post(secrets, large)).code);
    await settle();
  });

  it('a token with a secret of almost 1 MiB signs', async () => {
    const secret = 'x'.repeat(1024 * 1024 - 200);
    await make(admin, secrets, tokenSecret('big001', secret));
    await untilInfo(admin, (info) => isSignedBy(info, 'big001', secret));
    await admin.delete(`${secrets}/bootstrap-token-big001`);
  });

  it('forged, removed and unknown signatures are repaired, and foreign keys are kept', async () => {
    const [forged, removed] = [await signedToken(), await signedToken()];
    const data = {
      [`jws-kubeconfig-${forged}`]: signatureOf(await current(), removed),
      [`jws-kubeconfig-${removed}`]: null,
      'jws-kubeconfig-nobody': 'S',
      'jws-kubeconfig-__proto__': 'S',
      constructor: 'kept',
      'jws-other': 'kept',
    };
    const { code, body } = await admin.patch(`${configMaps}/cluster-info`, {
      data,
      metadata: { labels: { mine: 'yes' } },
    });
    expect([code, body.message]).toEqual([200, undefined]);
    const info = await untilInfo(
      admin,
      (found) => isSignedBy(found, forged, 'tokenSecret') && isSignedBy(found, removed, 'tokenSecret'),
    );
    const after = dataOf(info);
    expect(Object.keys(after).filter((key) => /nobody|kubeconfig-__proto__/.test(key))).toEqual([]);
    expect(after).toMatchObject({ kubeconfig, constructor: 'kept', 'jws-other': 'kept' });
    expect(info?.metadata.labels).toEqual({ mine: 'yes' });
  });

  it('edits of others during the writes of the reconciler are kept', async () => {
    const id = await signedToken();
    const edits = Array.from({ length: 40 }, async (_none, index) => {
      await admin.patch(`${configMaps}/cluster-info`, { data: { [`edit-${index}`]: String(index) } });
      if (index % 4 === 0) await make(admin, secrets, tokenSecret(newId(), 'tokenSecret'));
      if (index % 10 === 0)
        await admin.patch(`${configMaps}/cluster-info`, { data: { [`jws-kubeconfig-${id}`]: 'x' } });
    });
    await Promise.all(edits);
    const last = await settle();
    const info = await untilInfo(
      admin,
      (found) => isSignedBy(found, id, 'tokenSecret') && isSignedBy(found, last, 'tokenSecret'),
    );
    const kept = Object.entries(dataOf(info)).filter(([key]) => key.startsWith('edit-'));
    expect(kept.map(([, text]) => Number(text)).sort((a, b) => a - b)).toEqual([...Array(40).keys()]);
  });

  it('a settled cluster-info is not written again', async () => {
    await settle();
    const { resourceVersion } = (await current()).metadata;
    await make(admin, secrets, tokenSecret(newId(), 'tokenSecret', { 'usage-bootstrap-signing': 'false' }));
    await make(admin, '/api/v1/namespaces/kube-system/secrets', { metadata: { name: 'unrelated' } });
    await make(admin, configMaps, { metadata: { name: 'unrelated' } });
    const expired = newId();
    await make(admin, secrets, tokenSecret(expired, 'tokenSecret', { expiration: fromNow(-1000) }));
    await untilGone(admin, secrets, `bootstrap-token-${expired}`);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((await current()).metadata.resourceVersion).toBe(resourceVersion);
  });

  it('a cluster-info without kubeconfig is left alone until it has one, and a deleted one is not created again', async () => {
    const id = await signedToken();
    await admin.delete(`${configMaps}/cluster-info`);
    await make(admin, configMaps, { metadata: { name: 'cluster-info' }, data: { 'jws-kubeconfig-foreign': 'S' } });
    await make(admin, secrets, tokenSecret(newId(), 'tokenSecret'));
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(dataOf(await current())).toEqual({ 'jws-kubeconfig-foreign': 'S' });
    await admin.patch(`${configMaps}/cluster-info`, { data: { kubeconfig } });
    const info = await untilInfo(admin, (found) => isSignedBy(found, id, 'tokenSecret'));
    expect(dataOf(info)['jws-kubeconfig-foreign']).toBeUndefined();
  });
});

it('thousands of tokens sign, and requests are answered meanwhile', async () => {
  const config = { reconcilers: { controllers } };
  const server = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { config });
  const { admin } = server;
  try {
    const large = 'k'.repeat(256 * 1024);
    const idOf = (index: number) => `t${String(index).padStart(5, '0')}`;
    let index = 0;
    const lane = async () => {
      while (index < 2000) {
        const id = idOf(index++);
        await make(admin, secrets, tokenSecret(id, '0123456789abcdef'));
      }
    };
    await Promise.all(Array.from({ length: 20 }, lane));
    await make(admin, configMaps, { metadata: { name: 'cluster-info' }, data: { kubeconfig: large } });
    let answers = 0;
    const isDone = { value: false };
    const probe = (async () => {
      while (!isDone.value) {
        expect((await admin.get('/api/v1/namespaces/default')).code).toBe(200);
        answers++;
      }
    })();
    const info = await untilInfo(admin, (found) => Object.keys(dataOf(found)).length === 2001);
    isDone.value = true;
    await probe;
    expect(isSignedBy(info, idOf(1999), `${idOf(1999)}.0123456789abcdef`)).toBe(true);
    expect(answers).toBeGreaterThan(10);
  } finally {
    await server.stop();
  }
});

it.each<[StoreName, NamingName]>([
  ['etcd', 'kubernetes'],
  ['embedded', 'kubernetes'],
  ['memory', 'svc'],
])('by default the whole token is the key, with the store %s and the naming profile %s', async (store, naming) => {
  const server = await startTestServer({ store, naming }, { config: { reconcilers: { controllers } } });
  const { admin } = server;
  try {
    const { naming: names } = server.keelson.components.config;
    const infos = `/api/v1/namespaces/${names.systemNamespace('public')}/configmaps`;
    const tokens = `/api/v1/namespaces/${names.systemNamespace('system')}/secrets`;
    await make(admin, infos, { metadata: { name: 'cluster-info' }, data: { kubeconfig } });
    const type = names.label('token', 'bootstrap');
    await make(admin, tokens, { ...tokenSecret('abc123', '0123456789abcdef'), type });
    await until(admin, infos, 'cluster-info', (info) => isSignedBy(info, 'abc123', 'abc123.0123456789abcdef'));
    await make(admin, tokens, { ...tokenSecret('old123', '0123456789abcdef', { expiration: fromNow(-1000) }), type });
    await untilGone(admin, tokens, 'bootstrap-token-old123');
  } finally {
    await server.stop();
  }
});

it('neither runs by default', async () => {
  const server = await startTestServer({ store: 'memory', naming: 'kubernetes' });
  const { admin } = server;
  try {
    await make(admin, configMaps, { metadata: { name: 'cluster-info' }, data: { kubeconfig } });
    await make(admin, secrets, tokenSecret('abc123', 'tokenSecret'));
    await make(admin, secrets, tokenSecret('old123', 'tokenSecret', { expiration: fromNow(-1000) }));
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect((await admin.get(`${secrets}/bootstrap-token-old123`)).code).toBe(200);
    expect(dataOf((await admin.get(`${configMaps}/cluster-info`)).body)).toEqual({ kubeconfig });
  } finally {
    await server.stop();
  }
});

it('signatures of an active kube-controller-manager are kept, and missing ones are added after ten seconds', async () => {
  const server = await startTestServer(
    { store: 'memory', naming: 'kubernetes' },
    { config: { reconcilers: { controllers } } },
  );
  const { admin } = server;
  try {
    const renewTime = new Date().toISOString().replace('Z', '000Z');
    await make(admin, '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases', {
      metadata: { name: 'kube-controller-manager' },
      spec: { holderIdentity: 'kcm_1', leaseDurationSeconds: 60, renewTime },
    });
    const header = Buffer.from('{"alg":"HS256","kid":"abc123"}').toString('base64url');
    const payload = Buffer.from(kubeconfig).toString('base64url');
    const theirs = `${header}..${createHmac('sha256', 'tokenSecret').update(`${header}.${payload}`).digest('base64url')}`;
    await make(admin, secrets, tokenSecret('abc123', 'tokenSecret'));
    await make(admin, secrets, tokenSecret('def456', 'tokenSecret'));
    const start = performance.now();
    await make(admin, configMaps, {
      metadata: { name: 'cluster-info' },
      data: { kubeconfig, 'jws-kubeconfig-abc123': theirs },
    });
    const info = await untilInfo(admin, (found) => isSignedBy(found, 'def456', 'def456.tokenSecret'));
    expect(performance.now() - start).toBeGreaterThan(9000);
    expect(signatureOf(info, 'abc123')).toBe(theirs);
  } finally {
    await server.stop();
  }
});

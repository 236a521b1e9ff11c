import { admitted, KnownObjects, pluginParts, podOf } from '../../../test/harness/admission.js';
import { ManualClock } from '../../std/clock.js';
import { serviceAccount } from './service-account.plugin.js';

const account = (more: object = {}, name = 'default') => ({ '/serviceaccounts': [{ metadata: { name }, ...more }] });
const tokenMount = {
  name: 'kube-api-access-q4gv7',
  readOnly: true,
  mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
};
const mirror = { annotations: { 'kubernetes.io/config.mirror': 'x' } };
const enforcing = (more: object = {}) =>
  account({
    metadata: { name: 'default', annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } },
    ...more,
  });
const env = (name: string) => [{ name: 'c', env: [{ name: 'E', valueFrom: { secretKeyRef: { name, key: 'k' } } }] }];
const mounts = (container: unknown) => (container as { volumeMounts?: { name: string }[] }).volumeMounts?.length ?? 0;

describe('every Pod acts as an account', () => {
  it.each([
    { name: 'its own', spec: { serviceAccountName: 'robot' }, known: account({}, 'robot'), want: 'robot' },
    { name: 'the default one', spec: {}, known: account(), want: 'default' },
  ])('$name', async ({ spec, known, want }) => {
    const { object } = await admitted(serviceAccount(pluginParts({ known })), { object: podOf(spec) });
    expect(object).toMatchObject({ spec: { serviceAccountName: want, serviceAccount: want } });
  });

  it('and gets its token, the authority and the namespace', async () => {
    const { object } = await admitted(serviceAccount(pluginParts({ known: account() })), { object: podOf() });
    const { volumes, containers } = object!['spec'] as { volumes: { name: string }[]; containers: object[] };
    expect(volumes).toEqual([
      {
        name: expect.stringMatching(/^kube-api-access-[bcdfghjklmnpqrstvwxz2456789]{5}$/),
        projected: {
          defaultMode: 420,
          sources: [
            { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
            { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
            {
              downwardAPI: {
                items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
              },
            },
          ],
        },
      },
    ]);
    expect(containers).toEqual([{ name: 'c', image: 'i', volumeMounts: [{ ...tokenMount, name: volumes[0]!.name }] }]);
  });

  it.each([
    { name: 'the Pod says no', account: {}, spec: { automountServiceAccountToken: false }, want: [0] },
    { name: 'the account says no', account: { automountServiceAccountToken: false }, spec: {}, want: [0] },
    {
      name: 'the Pod says yes, whatever the account says',
      account: { automountServiceAccountToken: false },
      spec: { automountServiceAccountToken: true },
      want: [1],
    },
    { name: 'init containers have it too', account: {}, spec: { initContainers: [{ name: 'i' }] }, want: [1, 1] },
    {
      name: 'something else stands there',
      account: {},
      spec: {
        containers: [{ name: 'c', volumeMounts: [{ name: 'own', mountPath: tokenMount.mountPath }] }, { name: 'd' }],
      },
      want: [1, 1],
    },
  ])('mounts: $name', async ({ account: more, spec, want }) => {
    const { object } = await admitted(serviceAccount(pluginParts({ known: account(more) })), { object: podOf(spec) });
    const { initContainers = [], containers } = object!['spec'] as { initContainers?: object[]; containers: object[] };
    expect([...initContainers, ...containers].map(mounts)).toEqual(want);
  });

  it('a volume that was there already is used', async () => {
    const volumes = [{ name: 'kube-api-access-mine', emptyDir: {} }];
    const { object } = await admitted(serviceAccount(pluginParts({ known: account() })), {
      object: podOf({ volumes }),
    });
    expect(object).toMatchObject({
      spec: { volumes, containers: [{ volumeMounts: [{ name: 'kube-api-access-mine' }] }] },
    });
  });

  it.each([
    { name: 'its own stay', spec: { imagePullSecrets: [{ name: 'mine' }] }, want: [{ name: 'mine' }] },
    { name: "the account's are taken over", spec: {}, want: [{ name: 'pull' }] },
  ])('pull secrets: $name', async ({ spec, want }) => {
    const known = account({ imagePullSecrets: [{ name: 'pull' }] });
    const { object } = await admitted(serviceAccount(pluginParts({ known })), { object: podOf(spec) });
    expect(object).toMatchObject({ spec: { imagePullSecrets: want } });
  });
});

describe('refuses', () => {
  it.each([
    {
      name: 'an account that is not there',
      known: account(),
      object: podOf({ serviceAccountName: 'nobody' }),
      want: 'error looking up service account ns/nobody: serviceaccount "nobody" not found',
    },
    {
      name: 'a mirror Pod with an account',
      known: account(),
      object: podOf({ serviceAccountName: 'default' }, mirror),
      want: 'a mirror pod may not reference service accounts',
    },
    {
      name: 'a mirror Pod with secrets',
      known: account(),
      object: podOf({ volumes: [{ name: 's', secret: { secretName: 'x' } }] }, mirror),
      want: 'a mirror pod may not reference secrets',
    },
    {
      name: 'a mirror Pod with a token',
      known: account(),
      object: podOf(
        { volumes: [{ name: 's', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }] },
        mirror,
      ),
      want: 'a mirror pod may not use ServiceAccountToken volume projections',
    },
    {
      name: 'a secret that the account does not list',
      known: enforcing(),
      object: podOf({ volumes: [{ name: 's', secret: { secretName: 'x' } }] }),
      want: 'volume with secret.secretName="x" is not allowed because service account default does not reference that secret',
    },
    {
      name: 'such a secret in a variable',
      known: enforcing(),
      object: podOf({ containers: env('x') }),
      want: 'container c with envVar E referencing secret.secretName="x" is not allowed because service account default does not reference that secret',
    },
    {
      name: 'such a secret for pulling',
      known: enforcing(),
      object: podOf({ imagePullSecrets: [{ name: 'x' }] }),
      want: 'imagePullSecrets[0].name="x" is not allowed because service account default does not reference that imagePullSecret',
    },
    {
      name: 'not one that it lists',
      known: enforcing({ secrets: [{ name: 'x' }] }),
      object: podOf({ containers: env('x') }),
      want: undefined,
    },
    { name: 'not a plain mirror Pod', known: {}, object: podOf({}, mirror), want: undefined },
  ])('$name', async ({ known, object, want }) => {
    const { refused } = await admitted(serviceAccount(pluginParts({ known })), { object });
    expect(refused).toBe(want);
  });
});

describe('the default account of a young namespace', () => {
  const settle = async () => {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  };

  it('is waited for', async () => {
    const [clock, known] = [new ManualClock(), new KnownObjects()];
    const outcome = admitted(serviceAccount(pluginParts({ clock, known })), { object: podOf() });
    await settle();
    known.add('/serviceaccounts', { metadata: { name: 'default' } });
    clock.advance(100);
    expect(await outcome).toMatchObject({ refused: undefined, object: { spec: { serviceAccountName: 'default' } } });
  });

  it('not for ever', async () => {
    const clock = new ManualClock();
    const outcome = admitted(serviceAccount(pluginParts({ clock })), { object: podOf() });
    for (let attempt = 0; attempt < 10; attempt++) {
      await settle();
      clock.advance(100);
    }
    expect((await outcome).refused).toBe(
      'error looking up service account ns/default: serviceaccount "default" not found',
    );
  });
});

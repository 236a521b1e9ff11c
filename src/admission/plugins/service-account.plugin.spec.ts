import { admitted, KnownObjects, hooksOf, podOf } from '../../../test/harness/admission.js';
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

describe('a new Pod', () => {
  it.each([
    {
      name: 'keeps its serviceAccountName',
      spec: { serviceAccountName: 'robot' },
      known: account({}, 'robot'),
      want: 'robot',
    },
    { name: 'without a name gets the default service account', spec: {}, known: account(), want: 'default' },
  ])('$name', async ({ spec, known, want }) => {
    const { object } = await admitted(hooksOf(serviceAccount, { known }), { object: podOf(spec) });
    expect(object).toMatchObject({ spec: { serviceAccountName: want, serviceAccount: want } });
  });

  it('gets a volume with token, CA bundle and namespace, mounted in its container', async () => {
    const { object } = await admitted(hooksOf(serviceAccount, { known: account() }), { object: podOf() });
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
    {
      name: 'not if the Pod sets automountServiceAccountToken to false',
      account: {},
      spec: { automountServiceAccountToken: false },
      want: [0],
    },
    {
      name: 'not if the service account sets automountServiceAccountToken to false',
      account: { automountServiceAccountToken: false },
      spec: {},
      want: [0],
    },
    {
      name: 'the Pod overrides the service account',
      account: { automountServiceAccountToken: false },
      spec: { automountServiceAccountToken: true },
      want: [1],
    },
    { name: 'init containers too', account: {}, spec: { initContainers: [{ name: 'i' }] }, want: [1, 1] },
    {
      name: 'not over a mount of the container at the same path',
      account: {},
      spec: {
        containers: [{ name: 'c', volumeMounts: [{ name: 'own', mountPath: tokenMount.mountPath }] }, { name: 'd' }],
      },
      want: [1, 1],
    },
  ])('mounts the token: $name', async ({ account: more, spec, want }) => {
    const { object } = await admitted(hooksOf(serviceAccount, { known: account(more) }), { object: podOf(spec) });
    const { initContainers = [], containers } = object!['spec'] as { initContainers?: object[]; containers: object[] };
    expect([...initContainers, ...containers].map(mounts)).toEqual(want);
  });

  it('mounts an existing kube-api-access volume and adds none', async () => {
    const volumes = [{ name: 'kube-api-access-mine', emptyDir: {} }];
    const { object } = await admitted(hooksOf(serviceAccount, { known: account() }), {
      object: podOf({ volumes }),
    });
    expect(object).toMatchObject({
      spec: { volumes, containers: [{ volumeMounts: [{ name: 'kube-api-access-mine' }] }] },
    });
  });

  it.each([
    { name: 'those of the Pod are kept', spec: { imagePullSecrets: [{ name: 'mine' }] }, want: [{ name: 'mine' }] },
    { name: 'those of the service account are added to a Pod without any', spec: {}, want: [{ name: 'pull' }] },
  ])('imagePullSecrets: $name', async ({ spec, want }) => {
    const known = account({ imagePullSecrets: [{ name: 'pull' }] });
    const { object } = await admitted(hooksOf(serviceAccount, { known }), { object: podOf(spec) });
    expect(object).toMatchObject({ spec: { imagePullSecrets: want } });
  });
});

describe('refuses', () => {
  it.each([
    {
      name: 'a service account that does not exist',
      known: account(),
      object: podOf({ serviceAccountName: 'nobody' }),
      want: 'error looking up service account ns/nobody: serviceaccount "nobody" not found',
    },
    {
      name: 'a mirror Pod with a service account',
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
      name: 'a volume with a Secret that the service account does not list',
      known: enforcing(),
      object: podOf({ volumes: [{ name: 's', secret: { secretName: 'x' } }] }),
      want: 'volume with secret.secretName="x" is not allowed because service account default does not reference that secret',
    },
    {
      name: 'a variable from a Secret that the service account does not list',
      known: enforcing(),
      object: podOf({ containers: env('x') }),
      want: 'container c with envVar E referencing secret.secretName="x" is not allowed because service account default does not reference that secret',
    },
    {
      name: 'an imagePullSecret that the service account does not list',
      known: enforcing(),
      object: podOf({ imagePullSecrets: [{ name: 'x' }] }),
      want: 'imagePullSecrets[0].name="x" is not allowed because service account default does not reference that imagePullSecret',
    },
    {
      name: 'no Secret that the service account lists',
      known: enforcing({ secrets: [{ name: 'x' }] }),
      object: podOf({ containers: env('x') }),
      want: undefined,
    },
    { name: 'no mirror Pod without references', known: {}, object: podOf({}, mirror), want: undefined },
  ])('$name', async ({ known, object, want }) => {
    const { refused } = await admitted(hooksOf(serviceAccount, { known }), { object });
    expect(refused).toBe(want);
  });
});

describe('the default service account of a new namespace', () => {
  const settle = async () => {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  };

  it('is waited for until it is created', async () => {
    const [clock, known] = [new ManualClock(), new KnownObjects()];
    const outcome = admitted(hooksOf(serviceAccount, { clock, known }), { object: podOf() });
    await settle();
    known.add('/serviceaccounts', { metadata: { name: 'default' } });
    clock.advance(100);
    expect(await outcome).toMatchObject({ refused: undefined, object: { spec: { serviceAccountName: 'default' } } });
  });

  it('is missing after ten attempts: the Pod is refused', async () => {
    const clock = new ManualClock();
    const outcome = admitted(hooksOf(serviceAccount, { clock }), { object: podOf() });
    for (let attempt = 0; attempt < 10; attempt++) {
      await settle();
      clock.advance(100);
    }
    expect((await outcome).refused).toBe(
      'error looking up service account ns/default: serviceaccount "default" not found',
    );
  });
});

import { describeOutcome, findKubectls, howToGetKubectl, KubectlRunner } from '../../scripts/kubectl/kubectl.js';
import type { Step } from '../../scripts/kubectl/step.js';
import { makeEphemeralPki } from '../../src/certificates/ephemeral-pki.js';
import { packageRoot } from '../../src/config/config-files.js';
import { systemClock } from '../../src/std/clock.js';
import { startKeelson, type Keelson } from '../../src/testing.js';
import { ClientKubeconfigs } from '../harness/client-kubeconfigs.js';

const kubectls = findKubectls(packageRoot);

if (kubectls.length === 0) {
  describe.skip(`kubectl (${howToGetKubectl})`, () => it('is not installed', () => undefined));
} else describe.each(kubectls)('kubectl $version', callsOf);

interface Review {
  readonly status: {
    readonly userInfo: {
      readonly username: string;
      readonly uid?: string;
      readonly groups: readonly string[];
      readonly extra?: Readonly<Record<string, readonly string[]>>;
    };
  };
}

function callsOf(kubectl: (typeof kubectls)[number]): void {
  const apiVersion = 'client.authentication.k8s.io/v1';
  const robot = 'system:serviceaccount:default:robot';
  let keelson: Keelson;
  let files: ClientKubeconfigs;
  const open: KubectlRunner[] = [];
  let admin: KubectlRunner;
  /** The user of this kubeconfig is the plug-in. */
  let plugged: KubectlRunner;

  const runner = async (kubeconfig: string) => {
    const opened = await KubectlRunner.open(kubectl, kubeconfig);
    open.push(opened);
    return opened;
  };
  beforeAll(async () => {
    files = new ClientKubeconfigs();
    keelson = await startKeelson();
    admin = await runner(await keelson.kubeconfigFile());
    // The command is relative to the directory of the kubeconfig.
    files.write('plugin.sh', '#!/bin/sh\ncat "$(dirname "$0")/output"\n', 0o700);
    const exec = { apiVersion, command: './plugin.sh', interactiveMode: 'Never', provideClusterInfo: true };
    plugged = await runner(files.kubeconfig(keelson, { exec }));
    await run(admin, 'create', 'serviceaccount', 'robot');
  });
  afterAll(async () => {
    for (const each of open) await each.close();
    await keelson.stop();
    files.remove();
  });

  const outcomeOf = (by: KubectlRunner, args: readonly string[], more: Partial<Step> = {}) =>
    by.run({ name: args.join(' '), args, ...more });
  async function run(by: KubectlRunner, ...args: readonly string[]): Promise<string> {
    const outcome = await outcomeOf(by, args);
    expect(outcome.problem && describeOutcome(outcome)).toBeUndefined();
    return outcome.stdout;
  }
  async function fails(by: KubectlRunner, stderr: RegExp, ...args: readonly string[]): Promise<void> {
    const outcome = await outcomeOf(by, args, { code: 1, stderr });
    expect(outcome.problem && describeOutcome(outcome)).toBeUndefined();
  }
  const whoAmI = async (by: KubectlRunner, ...flags: string[]) =>
    (JSON.parse(await run(by, 'auth', 'whoami', '-o', 'json', ...flags)) as Review).status.userInfo;
  const prints = (status: object) =>
    files.write('output', JSON.stringify({ apiVersion, kind: 'ExecCredential', status }));
  /** Users of certificates and tokens need a kubeconfig without other credentials. */
  const withToken = (token: string) => runner(files.kubeconfig(keelson, { token }));

  it('an exec plug-in with a token: the user is that of the token', async () => {
    prints({ token: (await run(admin, 'create', 'token', 'robot')).trim() });
    expect(await whoAmI(plugged)).toMatchObject({
      username: robot,
      groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
    });
    await fails(plugged, /pods is forbidden: User "system:serviceaccount:default:robot" cannot list/, 'get', 'pods');
    await fails(plugged, /users "alice" is forbidden|cannot impersonate|impersonate-on/, 'get', 'pods', '--as=alice');
  });

  it('an exec plug-in with an unknown token: the request is rejected (401)', async () => {
    prints({ token: 'no-token-of-this-server' });
    await fails(plugged, /You must be logged in|Unauthorized/i, 'get', 'pods');
  });

  it('an exec plug-in with a certificate and key: the user is that of the certificate', async () => {
    const pki = await makeEphemeralPki({ clock: systemClock });
    const { certificate, key } = await pki.issueClient({ commonName: 'carla', organizations: ['ops', 'dev'] });
    prints({ clientCertificateData: certificate, clientKeyData: key });
    expect(await whoAmI(plugged)).toMatchObject({ username: 'carla', groups: ['ops', 'dev', 'system:authenticated'] });
  });

  it('an exec plug-in that prints another apiVersion: kubectl sends no request', async () => {
    files.write('output', JSON.stringify({ apiVersion: `${apiVersion}beta1`, kind: 'ExecCredential', status: {} }));
    await fails(plugged, /client\.authentication\.k8s\.io/, 'get', 'pods');
  });

  it('create token: duration, audience and bound object', async () => {
    const token = (await run(admin, 'create', 'token', 'robot', '--duration=2h')).trim();
    const { exp, iat } = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Record<
      string,
      number
    >;
    expect(exp! - iat!).toBe(7200);
    const holder = await withToken(token);
    expect((await whoAmI(holder)).extra).toEqual({
      'authentication.kubernetes.io/credential-id': [expect.stringMatching(/^JTI=/)],
    });

    const ofVault = (await run(admin, 'create', 'token', 'robot', '--audience=vault')).trim();
    await fails(await withToken(ofVault), /You must be logged in|Unauthorized/i, 'get', 'pods');

    await run(admin, 'create', 'secret', 'generic', 'bound');
    const args = ['create', 'token', 'robot', '--bound-object-kind=Secret', '--bound-object-name=bound'];
    const bound = await withToken((await run(admin, ...args)).trim());
    expect(await whoAmI(bound)).toMatchObject({ username: robot });
    await run(admin, 'delete', 'secret', 'bound');
    await fails(bound, /You must be logged in|Unauthorized/i, 'get', 'pods');
    await fails(admin, /serviceaccounts "nobody" not found/, 'create', 'token', 'nobody');
  });

  it('--as, --as-group and --as-uid: the user is the impersonated one', async () => {
    expect(await whoAmI(admin, '--as=alice')).toEqual({ username: 'alice', groups: ['system:authenticated'] });
    const flags = ['--as=alice', '--as-group=dev', '--as-group=ops', '--as-uid=u-7'];
    expect(await whoAmI(admin, ...flags)).toEqual({
      ...{ username: 'alice', uid: 'u-7' },
      groups: ['dev', 'ops', 'system:authenticated'],
    });
    expect(await whoAmI(admin, `--as=${robot}`)).toMatchObject({
      username: robot,
      groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
    });
    expect(await run(admin, 'auth', 'can-i', 'list', 'pods', '--as=alice', '--as-group=system:masters')).toBe('yes\n');
    await fails(admin, /User "alice" cannot list resource "pods"/, 'get', 'pods', '--as=alice');
  });
}

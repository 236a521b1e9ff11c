import { describeOutcome, findKubectls, howToGetKubectl, KubectlRunner } from '../../scripts/kubectl/kubectl.js';
import type { Step } from '../../scripts/kubectl/step.js';
import { packageRoot } from '../../src/config/config-files.js';
import { startKeelson, type Keelson } from '../../src/testing.js';

const kubectls = findKubectls(packageRoot);

if (kubectls.length === 0) {
  describe.skip(`kubectl (${howToGetKubectl})`, () => it('is not installed', () => undefined));
} else describe.each(kubectls)('kubectl $version', callsOf);

const manifest = (verbs: string) => `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: reader, namespace: default }
rules:
- { apiGroups: [""], resources: [pods, pods/log], verbs: [${verbs}] }
- { apiGroups: [""], resources: [secrets], resourceNames: [one], verbs: [get] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: reader, namespace: default }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader }
subjects:
- { apiGroup: rbac.authorization.k8s.io, kind: User, name: ann }
`;

function callsOf(kubectl: (typeof kubectls)[number]): void {
  let keelson: Keelson;
  let admin: KubectlRunner;
  beforeAll(async () => {
    keelson = await startKeelson();
    admin = await KubectlRunner.open(kubectl, await keelson.kubeconfigFile());
  });
  afterAll(async () => {
    await admin.close();
    await keelson.stop();
  });

  async function run(args: readonly string[], more: Partial<Step> = {}): Promise<string> {
    const outcome = await admin.run({ name: args.join(' '), args, ...more });
    expect(outcome.problem && describeOutcome(outcome)).toBeUndefined();
    return outcome.stdout;
  }
  const reconcile = (verbs: string, ...flags: string[]) =>
    run(['auth', 'reconcile', '-f', '-', ...flags], { stdin: manifest(verbs) });
  const isAnswered = (answer: 'yes' | 'no', ...question: string[]) =>
    run(['auth', 'can-i', ...question, '--as=ann'], {
      stdout: new RegExp(`^${answer}`),
      code: answer === 'yes' ? 0 : 1,
    });

  it('auth reconcile: creates roles and bindings, adds rules, and removes them only if asked to', async () => {
    expect(await reconcile('get')).toMatch(/role\S*\/reader reconciled[^]*rolebinding\S*\/reader reconciled/);
    await isAnswered('yes', 'get', 'pods');
    await isAnswered('no', 'list', 'pods');
    await reconcile('get, list');
    await isAnswered('yes', 'list', 'pods');
    await reconcile('get');
    await isAnswered('yes', 'list', 'pods');
    await reconcile('get', '--remove-extra-permissions');
    await isAnswered('no', 'list', 'pods');
  });

  it('auth can-i: names, subresources, other namespaces and paths', async () => {
    await reconcile('get, list');
    await isAnswered('yes', 'get', 'pods', '--subresource=log');
    await isAnswered('no', 'get', 'pods', '--subresource=exec');
    await isAnswered('yes', 'get', 'secrets/one');
    await isAnswered('no', 'get', 'secrets/two');
    await isAnswered('no', 'get', 'pods', '--all-namespaces');
    await isAnswered('no', 'get', 'deployments.apps');
    await isAnswered('yes', 'get', '/version');
    await isAnswered('no', 'get', '/metrics');
  });

  it('auth can-i --list: the rules of the user', async () => {
    await reconcile('get, list');
    const rows = (await run(['auth', 'can-i', '--list', '--as=ann']))
      .split('\n')
      .map((line) => line.replace(/\s+/g, ' ').trim());
    expect(rows[0]).toBe('Resources Non-Resource URLs Resource Names Verbs');
    expect(rows).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^pods\/log \[\] \[\] \[get list\]$/),
        expect.stringMatching(/^pods \[\] \[\] \[get list\]$/),
        'secrets [] [one] [get]',
        'selfsubjectaccessreviews.authorization.k8s.io [] [] [create]',
        '[/version] [] [get]',
      ]),
    );
    expect(rows.some((row) => row.startsWith('configmaps'))).toBe(false);
  });

  it('a refused request names user, verb, resource and namespace', async () => {
    await run(['get', 'configmaps', '--as=ann'], {
      code: 1,
      stderr:
        /Error from server \(Forbidden\): configmaps is forbidden: User "ann" cannot list resource "configmaps" in API group "" in the namespace "default"/,
    });
  });
}

import { describeOutcome, findKubectls, howToGetKubectl, KubectlRunner } from '../../scripts/kubectl/kubectl.js';
import type { Step } from '../../scripts/kubectl/step.js';
import { packageRoot } from '../../src/config/config-files.js';
import { ClientKubeconfigs } from '../harness/client-kubeconfigs.js';
import { customResourceDefinition } from '../harness/custom-definitions.js';
import { clusterObject, ClusterServer, clustersPath } from '../harness/logical-clusters.js';

const kubectls = findKubectls(packageRoot);

if (kubectls.length === 0) {
  describe.skip(`kubectl (${howToGetKubectl})`, () => it('is not installed', () => undefined));
} else describe.each(kubectls)('kubectl $version with logical clusters', callsOf);

function callsOf(kubectl: (typeof kubectls)[number]): void {
  let server: ClusterServer;
  let files: ClientKubeconfigs;
  let root: KubectlRunner;
  let a: KubectlRunner;
  let b: KubectlRunner;
  const open: KubectlRunner[] = [];

  const runner = async (kubeconfig: string) => {
    const opened = await KubectlRunner.open(kubectl, kubeconfig);
    open.push(opened);
    return opened;
  };
  async function run(by: KubectlRunner, words: string, more: Partial<Step> = {}): Promise<string> {
    const outcome = await by.run({ name: words, args: words.split(' '), ...more });
    expect(outcome.problem && describeOutcome(outcome)).toBeUndefined();
    return outcome.stdout;
  }

  beforeAll(async () => {
    server = await ClusterServer.start();
    files = new ClientKubeconfigs();
    root = await runner(await server.server.keelson.kubeconfigFile());
  });
  afterAll(async () => {
    for (const each of open) await each.close();
    files.remove();
    await server.stop();
  });

  it('clusters are created, and their kubeconfigs issued, by kubectl alone', async () => {
    const request = JSON.stringify({ apiVersion: 'clusters.keelson.dev/v1alpha1', kind: 'KubeconfigRequest' });
    const kubeconfigs: string[] = [];
    for (const name of ['a', 'b']) {
      await run(root, 'apply -f -', { stdin: JSON.stringify(clusterObject(name)), stdout: /created/ });
      const issued = await run(root, `create --raw ${clustersPath}/${name}/kubeconfig -f -`, { stdin: request });
      const { status } = JSON.parse(issued) as { status: { kubeconfig: string } };
      kubeconfigs.push(files.write(name, status.kubeconfig));
    }
    a = await runner(kubeconfigs[0]!);
    b = await runner(kubeconfigs[1]!);
    await run(root, 'get logicalclusters', { stdout: /^a +Active +\d+s$/m });
  });

  it('a kubeconfig of a cluster shows and changes that cluster', async () => {
    await run(a, 'auth whoami', { stdout: /system:serviceaccount:kube-system:logical-cluster-admin/ });
    await run(a, 'get namespaces', { stdout: /^kube-system +Active/m });
    await run(a, 'create namespace team');
    await run(a, 'create configmap settings -n team --from-literal=color=green');
    await run(a, 'get configmap settings -n team -o jsonpath={.data.color}', { stdout: /^green$/ });
    await run(b, 'get configmap settings -n team', { code: 1, stderr: /NotFound/ });
    await run(root, 'get configmap settings -n team', { code: 1, stderr: /NotFound/ });
  });

  it('custom kinds of a cluster are applied, explained and listed in it', async () => {
    const schema = { type: 'object', properties: { spec: { type: 'object', description: 'Wishes of the user.' } } };
    const kind = customResourceDefinition({ group: 'own.example.com', plural: 'gadgets', schema });
    await run(a, 'apply -f -', { stdin: JSON.stringify(kind) });
    await run(a, 'wait --for=condition=Established crd/gadgets.own.example.com --timeout=60s');
    const gadget = { apiVersion: 'own.example.com/v1', kind: kind.spec.names.kind, metadata: { name: 'one' } };
    await run(a, 'apply --server-side -f -', { stdin: JSON.stringify(gadget) });
    await run(a, 'get gadgets', { stdout: /^one /m });
    await run(a, 'explain gadgets', { stdout: /Wishes of the user/ });
    await run(b, 'get gadgets', { code: 1, stderr: /the server doesn't have a resource type/ });
  });

  it('a deleted cluster is gone when kubectl returns', async () => {
    await run(root, 'delete logicalcluster b', { stdout: /deleted/ });
    await run(root, 'get logicalclusters', { stdout: /^a +Active +\d+s\n$/m });
    await run(b, 'get namespaces', { code: 1, stderr: /Unauthorized|logged in/ });
  });
}

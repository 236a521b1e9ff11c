import { configMap, pod, workload } from './manifests.js';
import type { Step } from './step.js';

/** Dry runs of every verb: objects, resourceVersions and cluster IPs do not change. */
export function dryRunSteps(namespace: string): readonly Step[] {
  const here = ['-n', namespace];
  const dry = ['--dry-run=server', ...here];
  const node = `${namespace}-dry`;
  const still = (what: string, place = here): Step => ({
    name: `${what} is unchanged`,
    args: ['wait', '--for=jsonpath={.metadata.resourceVersion}=<version>', what, '--timeout=2s', ...place],
    stdout: /condition met/,
  });
  const versionOf = (what: string, place = here): Step => ({
    name: `the version of ${what}`,
    args: ['get', what, '-o', 'jsonpath={.metadata.resourceVersion}', ...place],
    keep: 'version',
    stdout: /^\d+$/,
  });
  const none = (what: string): Step => ({
    name: `${what} does not exist`,
    args: ['get', what, ...here],
    code: 1,
    stderr: /\(NotFound\)/,
  });
  const all = [configMap('kept', 'a: "1"'), workload('Deployment', 'kept', 'example.com/app:1'), pod('kept')];

  // prettier-ignore
  return [
    { name: 'existing objects', args: ['create', '-f', '-', ...here], stdin: all.join('---\n'), stdout: /created/ },
    { name: 'a node', args: ['create', '-f', '-'], stdin: `apiVersion: v1\nkind: Node\nmetadata: {name: ${node}}\n`, stdout: /created/ },

    { name: 'dry create', args: ['create', '-f', '-', ...dry], stdin: configMap('dry'), stdout: /created \(server dry run\)/ },
    { name: 'dry create of an existing object', args: ['create', '-f', '-', ...dry], stdin: configMap('kept'), code: 1, stderr: /AlreadyExists/ },
    { name: 'dry create of an invalid object', args: ['create', '-f', '-', ...dry], stdin: configMap('Dry'), code: 1, stderr: /is invalid: metadata\.name/ },
    none('cm/dry'),
    { name: 'dry run', args: ['run', 'dry', '--image=example.com/app:1', '--overrides={"apiVersion":"v1","spec":{"automountServiceAccountToken":false}}', ...dry], stdout: /created \(server dry run\)/ },
    none('pod/dry'),
    versionOf('cm/kept'),
    { name: 'dry apply', args: ['apply', '-f', '-', ...dry], stdin: configMap('kept', 'a: "2"'), stdout: /configured \(server dry run\)/ },
    { name: 'dry apply of a new object', args: ['apply', '-f', '-', ...dry], stdin: configMap('dry'), stdout: /created \(server dry run\)/ },
    { name: 'dry apply, server side', args: ['apply', '--server-side', '-f', '-', ...dry], stdin: configMap('kept', 'b: "2"'), stdout: /serverside-applied \(server dry run\)/ },
    { name: 'dry apply, server side, in conflict', args: ['apply', '--server-side', '-f', '-', ...dry], stdin: configMap('kept', 'a: "2"'), code: 1, stderr: /conflict with "kubectl-create"/ },
    { name: 'dry apply, server side, of a new object', args: ['apply', '--server-side', '-f', '-', ...dry], stdin: configMap('dry'), stdout: /serverside-applied \(server dry run\)/ },
    { name: 'dry replace', args: ['replace', '-f', '-', ...dry], stdin: configMap('kept', 'a: "2"'), stdout: /replaced \(server dry run\)/ },
    { name: 'dry patch', args: ['patch', 'cm', 'kept', '-p', '{"data":{"a":"3"}}', '-o', 'jsonpath={.data.a}', ...dry], stdout: /^3$/ },
    { name: 'dry label', args: ['label', 'cm', 'kept', 'a=b', ...dry], stdout: /labeled \(server dry run\)/ },
    { name: 'dry annotate', args: ['annotate', 'cm', 'kept', 'a=b', ...dry], stdout: /annotated? \(server dry run\)/ },
    { name: 'dry delete', args: ['delete', 'cm', 'kept', ...dry], stdout: /deleted[^]*\(server dry run\)/ },
    { name: 'dry delete of all', args: ['delete', 'cm', '--all', ...dry], stdout: /"kept" deleted[^]*\(server dry run\)/ },
    still('cm/kept'),

    versionOf('deployment/kept'),
    { name: 'dry scale', args: ['scale', 'deployment/kept', '--replicas=7', ...dry], stdout: /scaled \(server dry run\)/ },
    { name: 'dry set image', args: ['set', 'image', 'deployment/kept', 'main=example.com/app:2', ...dry], stdout: /updated \(server dry run\)/ },
    { name: 'dry set env', args: ['set', 'env', 'deployment/kept', 'A=1', ...dry], stdout: /updated \(server dry run\)/ },
    { name: 'dry set resources', args: ['set', 'resources', 'deployment/kept', '--limits=cpu=1', ...dry], stdout: /updated \(server dry run\)/ },
    { name: 'dry set serviceaccount', args: ['set', 'serviceaccount', 'deployment/kept', 'other', ...dry], stdout: /updated \(server dry run\)/ },
    { name: 'dry patch of a status', args: ['patch', 'deployment', 'kept', '--subresource=status', '--type=merge', '-p', '{"status":{"replicas":3}}', ...dry], stdout: /patched/ },
    { name: 'dry patch of a scale', args: ['patch', 'deployment', 'kept', '--subresource=scale', '--type=merge', '-p', '{"spec":{"replicas":3}}', ...dry], stdout: /patched/ },
    { name: 'dry autoscale', args: ['autoscale', 'deployment', 'kept', '--max=3', ...dry], stdout: /autoscaled \(server dry run\)/ },
    { name: 'dry expose', args: ['expose', 'deployment', 'kept', '--port=80', '--type=NodePort', '-o', 'jsonpath={.spec.clusterIP}', ...dry], stdout: /^[0-9a-f.:]+$/ },
    { name: 'dry create of a service', args: ['create', 'service', 'nodeport', 'dry', '--tcp=80', ...dry], stdout: /created \(server dry run\)/ },
    { name: 'dry delete in the foreground', args: ['delete', 'deployment', 'kept', '--cascade=foreground', ...dry], stdout: /deleted[^]*\(server dry run\)/ },
    still('deployment/kept'),
    none('service/kept'),
    none('hpa/kept'),

    versionOf('pod/kept'),
    { name: 'dry delete --force', args: ['delete', 'pod', 'kept', '--force', '--grace-period=0', ...dry], stdout: /deleted[^]*\(server dry run\)/ },
    { name: 'dry delete of a pod', args: ['delete', 'pod', 'kept', ...dry], stdout: /deleted[^]*\(server dry run\)/ },
    still('pod/kept'),

    versionOf(`node/${node}`, []),
    { name: 'dry taint', args: ['taint', 'node', node, 'a=b:NoExecute', '--dry-run=server'], stdout: /tainted/ },
    { name: 'dry cordon', args: ['cordon', node, '--dry-run=server'], stdout: /cordoned \(server dry run\)/ },
    { name: 'dry drain', args: ['drain', node, '--dry-run=server'], stdout: /drained \(server dry run\)/ },
    still(`node/${node}`, []),
    { name: 'delete the node', args: ['delete', 'node', node], stdout: /deleted/ },
    { name: 'dry create of a namespace', args: ['create', 'namespace', `${namespace}-never`, '--dry-run=server'], stdout: /created \(server dry run\)/ },
    { name: 'dry delete of a namespace', args: ['delete', 'namespace', namespace, '--dry-run=server'], stdout: /deleted[^]*\(server dry run\)/ },
    { name: 'the namespace is still active', args: ['get', 'namespace', namespace], stdout: /Active/ },
  ];
}

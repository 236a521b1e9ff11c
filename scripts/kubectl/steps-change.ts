import { configMap, pod, workload } from './manifests.js';
import type { Step } from './step.js';

/** The commands that change objects: set, label, scale, and the like. */
export function changeSteps(namespace: string): readonly Step[] {
  const here = ['-n', namespace];
  const node = `${namespace}-node`;
  const editor = (script: string) => ({ KUBE_EDITOR: `sed -i '${script}'` });
  const shows = (what: string, path: string, stdout: RegExp): Step => ({
    name: `${path} of ${what}`,
    args: ['get', what, '-o', `jsonpath={${path}}`, ...here],
    stdout,
  });
  const manifests = [
    configMap('settings', 'colour: blue'),
    configMap('other', 'size: m', 'tier: back'),
    workload('Deployment', 'app', 'example.com/app:1'),
    workload('StatefulSet', 'db', 'example.com/db:1'),
    workload('ReplicaSet', 'rs', 'example.com/app:1'),
    pod('one'),
  ];

  // prettier-ignore
  return [
    { name: 'create --save-config', args: ['create', '--save-config', '-f', '-', ...here], stdin: manifests.join('---\n'), stdout: /^pod\/one created$/m },
    { name: 'a node', args: ['create', '-f', '-'], stdin: `apiVersion: v1\nkind: Node\nmetadata: {name: ${node}}\n`, stdout: /created/ },

    { name: 'edit', args: ['edit', 'cm/settings', ...here], env: editor('s/blue/red/'), stdout: /^configmap\/settings edited$/m },
    shows('cm/settings', '.data.colour', /^red$/),
    { name: 'edit as JSON', args: ['edit', 'cm/settings', '-o', 'json', ...here], env: editor('s/red/green/'), stdout: /"colour": "green"/ },
    { name: 'edit without a change', args: ['edit', 'cm/settings', ...here], env: { KUBE_EDITOR: 'true' }, stderr: /Edit cancelled, no changes made/ },
    { name: 'edit of several', args: ['edit', 'cm/settings', 'cm/other', ...here], env: editor('s/green/yellow/;s/size:/width:/'), stdout: /settings edited[^]*other edited/ },
    { name: 'edit of a status', args: ['edit', 'deployment/app', '--subresource=status', ...here], env: editor('s/status: {}/status: {replicas: 1}/'), stdout: /edited/ },
    shows('deployment/app', '.status.replicas', /^1$/),
    { name: 'edit of an immutable field', args: ['edit', 'deployment/app', ...here], env: editor('s/^....app:.app$/x/'), code: 1, stderr: /.+/ },

    { name: 'replace', args: ['replace', '-f', '-', ...here], stdin: configMap('settings', 'colour: black'), stdout: /replaced/ },
    { name: 'replace with an old resourceVersion (conflict)', args: ['replace', '-f', '-', ...here], stdin: configMap('settings', '').replace('name:', 'resourceVersion: "1", name:'), code: 1, stderr: /\(Conflict\)[^]*the object has been modified/ },
    { name: 'the uid before replace --force', args: ['get', 'cm', 'settings', '-o', 'jsonpath={.metadata.uid}', ...here], keep: 'uid' },
    { name: 'replace --force', args: ['replace', '--force', '-f', '-', ...here], stdin: configMap('settings', 'colour: white'), stdout: /deleted[^]*configmap\/settings replaced/ },
    { name: 'the uid after replace --force differs', args: ['wait', '--for=jsonpath={.metadata.uid}=<uid>', '--timeout=1s', 'cm/settings', ...here], code: 1, stderr: /timed out/ },
    { name: 'replace --subresource', args: ['replace', '--subresource=scale', '--raw', `/apis/apps/v1/namespaces/${namespace}/deployments/app/scale`, '-f', '-'], stdin: `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"app","namespace":"${namespace}"},"spec":{"replicas":2}}`, stdout: /"replicas":2/ },

    { name: 'patch, strategically', args: ['patch', 'deployment', 'app', '-p', '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"example.com/side:1"}]}}}}', ...here], stdout: /patched/ },
    shows('deployment/app', '.spec.template.spec.containers[*].name', /^side main$|^main side$/),
    { name: 'patch as a merge', args: ['patch', 'cm', 'settings', '--type=merge', '-p', '{"data":{"shade":"dark"}}', ...here], stdout: /patched/ },
    { name: 'patch without a change', args: ['patch', 'cm', 'settings', '--type=merge', '-p', '{"data":{"shade":"dark"}}', ...here], stdout: /patched \(no change\)/ },
    { name: 'patch with JSON patch operations', args: ['patch', 'cm', 'settings', '--type=json', '-p', '[{"op":"move","from":"/data/shade","path":"/data/hue"}]', ...here], stdout: /patched/ },
    shows('cm/settings', '.data', /^\{"colour":"white","hue":"dark"\}$/),
    { name: 'patch of a status', args: ['patch', 'deployment', 'app', '--subresource=status', '--type=merge', '-p', '{"status":{"replicas":3}}', ...here], stdout: /patched/ },
    shows('deployment/app', '.status.replicas', /^3$/),
    { name: 'patch of a scale', args: ['patch', 'deployment', 'app', '--subresource=scale', '--type=merge', '-p', '{"spec":{"replicas":4}}', ...here], stdout: /patched/ },
    shows('deployment/app', '.spec.replicas', /^4$/),
    { name: 'patch with an invalid patch', args: ['patch', 'cm', 'settings', '--type=json', '-p', '{}', ...here], code: 1, stderr: /cannot unmarshal object/ },

    { name: 'scale', args: ['scale', 'deployment/app', '--replicas=5', '--current-replicas=4', ...here], stdout: /^deployment.apps\/app scaled$/m },
    { name: 'scale with a wrong --current-replicas', args: ['scale', 'deployment/app', '--replicas=5', '--current-replicas=4', ...here], code: 1, stderr: /Expected replicas to be 4, was 5/ },
    { name: 'scale with an old resourceVersion (conflict)', args: ['scale', 'deployment/app', '--replicas=6', '--resource-version=1', ...here], code: 1, stderr: /Expected resource version to be 1|resource.?[vV]ersion/ },
    { name: 'scale of several', args: ['scale', 'statefulset/db', 'rs/rs', '--replicas=2', ...here], stdout: /db scaled[^]*rs scaled/ },

    { name: 'set image', args: ['set', 'image', 'deployment/app', 'main=example.com/app:2', ...here], stdout: /image updated/ },
    { name: 'set image of all', args: ['set', 'image', 'deployments,statefulsets', '--all', '*=example.com/app:3', ...here], stdout: /app image updated[^]*db image updated/ },
    { name: 'set env', args: ['set', 'env', 'deployment/app', 'A=1', 'B=2', ...here], stdout: /env updated/ },
    { name: 'set env from a map', args: ['set', 'env', 'deployment/app', '--from=cm/settings', '--prefix=SET_', ...here], stdout: /env updated/ },
    { name: 'set env, removing one', args: ['set', 'env', 'deployment/app', 'A-', ...here], stdout: /env updated/ },
    { name: 'set env --list', args: ['set', 'env', 'deployment/app', '--list', '--resolve', ...here], stdout: /^B=2$[^]*^SET_COLOUR=white$/m },
    { name: 'set resources', args: ['set', 'resources', 'deployment/app', '-c=main', '--limits=cpu=200m,memory=512Mi', '--requests=cpu=100m', ...here], stdout: /resource requirements updated/ },
    { name: 'set serviceaccount', args: ['set', 'serviceaccount', 'deployment/app', 'default', ...here], stdout: /serviceaccount updated/ },
    { name: 'a binding', args: ['create', 'rolebinding', 'readers', '--clusterrole=view', '--user=jane', ...here], stdout: /created/ },
    { name: 'set subject', args: ['set', 'subject', 'rolebinding/readers', '--user=joe', ...here], stdout: /subjects updated/ },
    { name: 'a service', args: ['create', 'service', 'clusterip', 'picked', '--tcp=80', ...here], stdout: /created/ },
    { name: 'set selector', args: ['set', 'selector', 'service/picked', 'app=other', ...here], stdout: /selector updated/ },

    { name: 'label', args: ['label', 'cm', 'settings', 'a=1', 'b=2', ...here], stdout: /labeled/ },
    { name: 'label --list', args: ['label', 'cm', 'settings', '--list', ...here], stdout: /^a=1$/m },
    { name: 'label of all', args: ['label', 'cm', '--all', '--overwrite', 'a=2', ...here], stdout: /settings labeled/ },
    { name: 'label by selector', args: ['label', 'cm', '-l', 'tier=back', 'c=3', ...here], stdout: /^configmap\/other labeled\n$/ },
    { name: 'label with an invalid value', args: ['label', 'cm', 'settings', 'a=b c', '--overwrite', ...here], code: 1, stderr: /a valid label must be|Invalid value/ },
    { name: 'annotate', args: ['annotate', 'cm', 'settings', 'example.com/note=a long, long note', ...here], stdout: /annotated?/ },
    { name: 'annotate with an old resourceVersion (conflict)', args: ['annotate', 'cm', 'settings', 'x=y', '--resource-version=1', ...here], code: 1, stderr: /\(Conflict\)/ },
    { name: 'annotate, removing one', args: ['annotate', 'cm', 'settings', 'example.com/note-', ...here], stdout: /annotated?/ },

    { name: 'taint', args: ['taint', 'node', node, 'dedicated=db:NoSchedule'], stdout: /tainted/ },
    { name: 'taint again', args: ['taint', 'node', node, 'dedicated=web:NoSchedule'], code: 1, stderr: /already has/ },
    { name: 'taint --overwrite', args: ['taint', 'node', node, 'dedicated=web:NoSchedule', '--overwrite'], stdout: /modified/ },
    { name: 'the taint of the node', args: ['get', 'node', node, '-o', 'jsonpath={.spec.taints[?(@.key=="dedicated")].value}'], stdout: /^web$/ },
    { name: 'taint, removing one', args: ['taint', 'node', node, 'dedicated-'], stdout: /untainted/ },
    { name: 'cordon', args: ['cordon', node], stdout: /cordoned/ },
    { name: 'get shows SchedulingDisabled', args: ['get', 'node', node], stdout: /SchedulingDisabled/ },
    { name: 'cordon again', args: ['cordon', node], stdout: /already cordoned/ },
    { name: 'drain', args: ['drain', node, '--ignore-daemonsets', '--timeout=10s'], stdout: /drained/ },
    { name: 'uncordon', args: ['uncordon', node], stdout: /uncordoned/ },
    { name: 'delete the node', args: ['delete', 'node', node], stdout: /deleted/ },

    { name: 'expose', args: ['expose', 'deployment', 'app', '--port=80', '--target-port=8080', ...here], stdout: /^service\/app exposed$/m },
    shows('service/app', '.spec.selector.app', /^app$/),
    { name: 'expose of a pod', args: ['expose', 'pod', 'one', '--port=80', '--type=NodePort', '--name=outside', ...here], stdout: /exposed/ },
    shows('service/outside', '.spec.ports[0].nodePort', /^3\d{4}$/),
    { name: 'expose again', args: ['expose', 'deployment', 'app', '--port=80', ...here], code: 1, stderr: /AlreadyExists/ },
    { name: 'autoscale', args: ['autoscale', 'deployment', 'app', '--min=1', '--max=3', '--cpu-percent=80', ...here], stdout: /autoscaled/ },
    shows('hpa/app', '.spec.maxReplicas', /^3$/),

    { name: 'a pod that is ready', args: ['patch', 'pod', 'one', '--subresource=status', '-p', '{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}', ...here], stdout: /patched/ },
    { name: 'wait for a condition', args: ['wait', '--for=condition=Ready', 'pod/one', '--timeout=5s', ...here], stdout: /condition met/ },
    { name: 'wait for a field', args: ['wait', '--for=jsonpath={.status.phase}=Running', 'pod/one', '--timeout=5s', ...here], stdout: /condition met/ },
    { name: 'wait until the timeout', args: ['wait', '--for=condition=Ready=False', 'pod', '--all', '--timeout=1s', ...here], code: 1, stderr: /timed out waiting/ },
    { name: 'wait for deletion of an absent object', args: ['wait', '--for=delete', 'pod/none', '--timeout=5s', ...here] },
  ];
}

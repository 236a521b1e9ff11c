import { ownedBy, pod, workload } from './manifests.js';
import type { Step } from './step.js';

/** `kubectl rollout`, with ReplicaSets as the controllers create them. */
export function rolloutSteps(namespace: string): readonly Step[] {
  const here = ['-n', namespace];
  const create = (name: string, stdin: string): Step => ({
    name,
    args: ['create', '-f', '-', ...here],
    stdin,
    stdout: /created/,
  });
  const uidOf = (what: string): Step => ({
    name: `the uid of ${what}`,
    args: ['get', what, '-o', 'jsonpath={.metadata.uid}', ...here],
    keep: 'uid',
    stdout: /./,
  });
  const revision = (number: number, name: string, image: string) =>
    workload('ReplicaSet', name, image)
      .replace(
        `name: ${name}, labels: {app: ${name}}`,
        `name: ${name}, labels: {app: web}, annotations: {deployment.kubernetes.io/revision: "${number}"}, ${ownedBy('Deployment', 'web', '<uid>')}`,
      )
      .replaceAll(`app: ${name}`, 'app: web');
  const controllerRevision = (kind: string, of: string, number: number, image: string) =>
    `apiVersion: apps/v1\nkind: ControllerRevision\nmetadata: {name: ${of}-${number}, labels: {app: ${of}}, ${ownedBy(kind, of, '<uid>')}}\nrevision: ${number}\n` +
    `data: {spec: {template: {$patch: replace, metadata: {labels: {app: ${of}}}, spec: {containers: [{name: main, image: '${image}'}]}}}}\n`;
  const image = (what: string, stdout: RegExp): Step => ({
    name: `the image of ${what}`,
    args: ['get', what, '-o', 'jsonpath={.spec.template.spec.containers[*].image}', ...here],
    stdout,
  });

  // prettier-ignore
  return [
    create('a deployment', workload('Deployment', 'web', 'example.com/web:1')),
    uidOf('deployment/web'),
    create('its first revision', revision(1, 'web-1', 'example.com/web:1')),
    { name: 'rollout pause', args: ['rollout', 'pause', 'deployment/web', ...here], stdout: /paused/ },
    { name: 'rollout pause again', args: ['rollout', 'pause', 'deployment/web', ...here], code: 1, stderr: /already paused/ },
    { name: 'rollout resume', args: ['rollout', 'resume', 'deployment/web', ...here], stdout: /resumed/ },
    { name: 'the second image', args: ['set', 'image', 'deployment/web', 'main=example.com/web:2', ...here], stdout: /updated/ },
    create('its second revision', revision(2, 'web-2', 'example.com/web:2')),
    { name: 'annotate the revision', args: ['annotate', 'deployment', 'web', 'deployment.kubernetes.io/revision=2', 'kubernetes.io/change-cause=better', ...here], stdout: /annotated?/ },
    { name: 'rollout history', args: ['rollout', 'history', 'deployment/web', ...here], stdout: /^1 [^]*^2 /m },
    { name: 'rollout history of one', args: ['rollout', 'history', 'deployment/web', '--revision=1', ...here], stdout: /Image:\s+example\.com\/web:1/ },
    { name: 'rollout undo, dry', args: ['rollout', 'undo', 'deployment/web', '--dry-run=server', ...here], stdout: /rolled back \(server dry run\)/ },
    image('deployment/web', /^example\.com\/web:2$/),
    { name: 'rollout undo', args: ['rollout', 'undo', 'deployment/web', ...here], stdout: /rolled back/ },
    image('deployment/web', /^example\.com\/web:1$/),
    { name: 'rollout undo to one', args: ['rollout', 'undo', 'deployment/web', '--to-revision=2', ...here], stdout: /rolled back/ },
    image('deployment/web', /^example\.com\/web:2$/),
    { name: 'rollout undo to an unknown revision', args: ['rollout', 'undo', 'deployment/web', '--to-revision=9', ...here], code: 1, stderr: /unable to find (specified )?revision/ },
    { name: 'rollout restart', args: ['rollout', 'restart', 'deployment/web', ...here], stdout: /restarted/ },
    { name: 'the restart annotation', args: ['get', 'deployment/web', '-o', 'jsonpath={.spec.template.metadata.annotations}', ...here], stdout: /kubectl\.kubernetes\.io\/restartedAt/ },
    { name: 'rollout status, waiting', args: ['rollout', 'status', 'deployment/web', '--timeout=1s', ...here], code: 1, stdout: /Waiting for deployment/ },
    { name: 'patch the status', args: ['patch', 'deployment', 'web', '--subresource=status', '--type=merge', '-p', '{"status":{"observedGeneration":99,"replicas":1,"updatedReplicas":1,"readyReplicas":1,"availableReplicas":1}}', ...here], stdout: /patched/ },
    { name: 'rollout status', args: ['rollout', 'status', 'deployment/web', '--timeout=5s', ...here], stdout: /successfully rolled out/ },

    create('a daemon set', workload('DaemonSet', 'agent', 'example.com/agent:2')),
    uidOf('daemonset/agent'),
    create('its revisions', [1, 2].map((number) => controllerRevision('DaemonSet', 'agent', number, `example.com/agent:${number}`)).join('---\n')),
    { name: 'rollout history of daemons', args: ['rollout', 'history', 'daemonset/agent', ...here], stdout: /^1 [^]*^2 /m },
    { name: 'rollout history of daemons, one', args: ['rollout', 'history', 'daemonset/agent', '--revision=1', ...here], stdout: /Image:\s+example\.com\/agent:1/ },
    { name: 'rollout undo of daemons', args: ['rollout', 'undo', 'daemonset/agent', ...here], stdout: /rolled back/ },
    image('daemonset/agent', /^example\.com\/agent:1$/),
    { name: 'rollout restart of daemons', args: ['rollout', 'restart', 'daemonset/agent', ...here], stdout: /restarted/ },

    create('a stateful set', workload('StatefulSet', 'store', 'example.com/store:2')),
    uidOf('statefulset/store'),
    create('its revisions', [1, 2].map((number) => controllerRevision('StatefulSet', 'store', number, `example.com/store:${number}`)).join('---\n')),
    { name: 'rollout undo of a stateful set', args: ['rollout', 'undo', 'statefulset/store', '--to-revision=1', ...here], stdout: /rolled back/ },
    image('statefulset/store', /^example\.com\/store:1$/),
    { name: 'rollout history of a stateful set', args: ['rollout', 'history', 'statefulset/store', '--revision=2', ...here], stdout: /Image:\s+example\.com\/store:2/ },

    ...deletions(namespace, create, uidOf),
  ];
}

/** Deletions with each propagation policy. */
function deletions(
  namespace: string,
  create: (name: string, stdin: string) => Step,
  uidOf: (what: string) => Step,
): readonly Step[] {
  const here = ['-n', namespace];
  const family = (name: string) => [
    create(`${name}: an owner`, workload('ReplicaSet', name, 'example.com/app:1')),
    uidOf(`replicaset/${name}`),
    create(`${name}: what it owns`, pod(`${name}-pod`, ownedBy('ReplicaSet', name, '<uid>'))),
  ];
  const gone = (what: string): Step => ({
    name: `delete ${what}`,
    args: ['wait', '--for=delete', what, '--timeout=10s', ...here],
  });
  // prettier-ignore
  return [
    ...family('back'),
    { name: 'delete, in the background', args: ['delete', 'rs', 'back', '--cascade=background', ...here], stdout: /"back" deleted/ },
    gone('pod/back-pod'),
    ...family('fore'),
    { name: 'delete, in the foreground', args: ['delete', 'rs', 'fore', '--cascade=foreground', '--timeout=20s', ...here], stdout: /"fore" deleted/ },
    { name: 'its pod was deleted first', args: ['get', 'pod', 'fore-pod', ...here], code: 1, stderr: /\(NotFound\)/ },
    ...family('alone'),
    { name: 'delete, orphaning', args: ['delete', 'rs', 'alone', '--cascade=orphan', '--timeout=20s', ...here], stdout: /"alone" deleted/ },
    { name: 'its pod stays', args: ['get', 'pod', 'alone-pod', '-o', 'jsonpath={.metadata.ownerReferences}', ...here], stdout: /^$/ },

    { name: 'delete --now', args: ['delete', 'pod', 'alone-pod', '--now', ...here], stdout: /deleted/ },
    create('a pod', pod('forced')),
    { name: 'delete --force', args: ['delete', 'pod', 'forced', '--force', '--grace-period=0', ...here], stdout: /force deleted/, stderr: /Immediate deletion does not wait/ },
    create('something held', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: held, finalizers: [example.com/hold]}\n'),
    { name: 'delete --wait=false', args: ['delete', 'cm', 'held', '--wait=false', ...here], stdout: /deleted/ },
    { name: 'delete of an object with a finalizer, until the timeout', args: ['delete', 'cm', 'held', '--timeout=1s', ...here], code: 1, stderr: /timed out/ },
    { name: 'wait for deletion of an object with a finalizer', args: ['wait', '--for=delete', 'cm/held', '--timeout=1s', ...here], code: 1, stderr: /timed out/ },
    { name: 'remove the finalizer', args: ['patch', 'cm', 'held', '--type=merge', '-p', '{"metadata":{"finalizers":null}}', ...here], stdout: /patched/ },
    gone('cm/held'),
    create('some maps', ['d1', 'd2', 'd3'].map((name) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, labels: {d: ${name}}}\n`).join('---\n')),
    { name: 'delete by label selector', args: ['delete', 'cm', '-l', 'd in (d1, d2)', ...here], stdout: /"d1" deleted[^]*"d2" deleted/ },
    { name: 'delete by field selector', args: ['delete', 'cm', '--field-selector=metadata.name=d3', ...here], stdout: /^configmap "d3" deleted/ },
    { name: 'delete by a file', args: ['delete', '-f', '-', ...here], stdin: workload('Deployment', 'web', ''), stdout: /"web" deleted/ },
    { name: 'delete --raw', args: ['delete', '--raw', `/apis/apps/v1/namespaces/${namespace}/daemonsets/agent`], stdout: /"Success"|"kind":"DaemonSet"|"kind":"Status"/ },
  ];
}

import type { Step } from './step.js';
import { customKindSteps } from './steps-custom.js';
import { everyKindSteps } from './steps-every-kind.js';
import { generatorSteps } from './steps-generators.js';
import { readSteps } from './steps-reads.js';
import { writeSteps } from './steps-writes.js';

export function isMissing({ missing }: Step, version: string): boolean {
  if (!missing) return false;
  const minor = Number(/^v1\.(\d+)/.exec(version)?.[1]);
  return minor >= missing.fromMinor && minor <= (missing.toMinor ?? Infinity);
}

const deployment = (image: string) =>
  `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: app}\nspec: {selector: {matchLabels: {app: app}}, ` +
  `template: {metadata: {labels: {app: app}}, spec: {containers: [{name: main, image: '${image}'}]}}}\n`;

const manifest = (kind: string, name: string, rest: string) =>
  `apiVersion: v1\nkind: ${kind}\nmetadata:\n  name: ${name}\n${rest}`;

const pod = manifest(
  'Pod',
  'web',
  `  labels: {app: web}
spec:
  containers:
  - name: main
    image: registry.example/web:1.2
    ports: [{containerPort: 80}]
    resources: {requests: {cpu: 100m, memory: 64Mi}}
`,
);

/** The most common calls, in a namespace of its own that the last step deletes. */
export function kubectlSteps(namespace: string): readonly Step[] {
  const here = ['-n', namespace];
  const unvalidated = ['--validate=false', '-f', '-'];
  return [
    { name: 'version', args: ['version'], stdout: /Server Version: .*v1\.\d+/ },
    { name: 'version as JSON', args: ['version', '-o', 'json'], stdout: /"serverVersion": \{[^]*"minor": "\d+"/ },
    { name: 'cluster-info', args: ['cluster-info'], stdout: /control plane.* is running at .*https:/ },
    { name: 'api-versions', args: ['api-versions'], stdout: /^v1$/m },
    {
      name: 'api-resources',
      args: ['api-resources'],
      stdout: /^configmaps +cm +v1 +true +ConfigMap$[^]*^nodes +no +v1 +false +Node$/m,
    },
    {
      name: 'api-resources by name, that can be listed',
      args: ['api-resources', '--namespaced', '--verbs=list,watch', '-o', 'name'],
      stdout: /^configmaps$[^]*^pods$/m,
    },
    { name: 'api-resources of the core group', args: ['api-resources', '--api-group=', '-o', 'wide'], stdout: /VERBS/ },
    { name: 'get --raw, health', args: ['get', '--raw', '/readyz?verbose'], stdout: /^\[\+\]ping ok$[^]*passed/m },
    { name: 'get --raw, a list', args: ['get', '--raw', '/api/v1/namespaces'], stdout: /"kind": ?"NamespaceList"/ },
    { name: 'get --raw, metrics', args: ['get', '--raw', '/metrics'], stdout: /^apiserver_request_total\{/m },

    {
      name: 'create from YAML',
      args: ['create', ...unvalidated],
      stdin: [
        manifest('Namespace', namespace, ''),
        manifest('ConfigMap', 'settings', `  namespace: ${namespace}\ndata: {colour: blue}\n`),
        manifest('Secret', 'login', `  namespace: ${namespace}\nstringData: {password: hush}\n`),
        manifest('ServiceAccount', 'robot', `  namespace: ${namespace}\n`),
        manifest(
          'Service',
          'web',
          `  namespace: ${namespace}\nspec: {clusterIP: None, ports: [{port: 80, targetPort: 8080}]}\n`,
        ),
      ].join('---\n'),
      stdout:
        /^namespace\/\S+ created\nconfigmap\/settings created\nsecret\/login created\nserviceaccount\/robot created\nservice\/web created\n$/,
    },
    {
      name: 'create an existing object',
      args: ['create', ...unvalidated],
      stdin: manifest('Namespace', namespace, ''),
      code: 1,
      stderr: /AlreadyExists/,
    },
    {
      name: 'create namespace',
      args: ['create', 'namespace', `${namespace}-more`],
      stdout: /^namespace\/\S+ created$/m,
    },
    {
      name: 'create configmap',
      args: ['create', 'configmap', 'made', '--from-literal=colour=blue', ...here],
      stdout: /^configmap\/made created$/m,
    },
    {
      name: 'create configmap, dry run on the server',
      args: ['create', 'configmap', 'never', '--dry-run=server', '-o', 'name', ...here],
      stdout: /^configmap\/never$/m,
    },
    { name: 'get after the dry run', args: ['get', 'configmap', 'never', ...here], code: 1, stderr: /\(NotFound\)/ },
    {
      name: 'create secret',
      args: ['create', 'secret', 'generic', 'made', '--from-literal=password=hush', ...here],
      stdout: /^secret\/made created$/m,
    },
    {
      name: 'create serviceaccount',
      args: ['create', 'serviceaccount', 'made', ...here],
      stdout: /^serviceaccount\/made created$/m,
    },
    {
      name: 'create service',
      args: ['create', 'service', 'clusterip', 'made', '--clusterip=None', '--tcp=80:8080', ...here],
      stdout: /^service\/made created$/m,
    },
    {
      name: 'create a pod from YAML',
      args: ['create', ...unvalidated, ...here],
      stdin: pod,
      stdout: /^pod\/web created$/m,
    },
    {
      name: 'create an invalid object',
      args: ['create', ...unvalidated, ...here],
      stdin: manifest('Pod', 'Web', 'spec: {containers: []}\n'),
      code: 1,
      stderr: /is invalid: [^]*spec\.containers: Required value/,
    },
    {
      name: 'run',
      args: ['run', 'job', '--image=registry.example/job', '--restart=Never', ...here],
      stdout: /^pod\/job created$/m,
    },

    { name: 'get, all namespaces', args: ['get', 'ns'], stdout: /^NAME +STATUS +AGE$[^]*^default +Active/m },
    { name: 'get', args: ['get', 'configmaps', ...here], stdout: /^NAME +DATA +AGE$[^]*^settings +1 /m },
    { name: 'get -A', args: ['get', 'cm', '-A'], stdout: /^NAMESPACE +NAME +DATA +AGE$[^]*settings/m },
    {
      name: 'get, two kinds',
      args: ['get', 'cm/settings', 'secret/login', ...here],
      stdout: /cm|configmap\/settings[^]*secret\/login/,
    },
    {
      name: 'get -o wide',
      args: ['get', 'pods', '-o', 'wide', ...here],
      stdout: /^NAME .*NOMINATED NODE +READINESS GATES$/m,
    },
    { name: 'get -o yaml', args: ['get', 'cm', 'settings', '-o', 'yaml', ...here], stdout: /^ {2}colour: blue$/m },
    {
      name: 'get -o json',
      args: ['get', 'cm', '-o', 'json', ...here],
      stdout: /"kind": "List"[^]*"colour": "blue"|"colour": "blue"[^]*"kind": "List"/,
    },
    {
      name: 'get -o name',
      args: ['get', 'cm,secrets', '-o', 'name', ...here],
      stdout: /^configmap\/settings$[^]*^secret\/login$/m,
    },
    {
      name: 'get -o custom-columns',
      args: ['get', 'pods', '-o', 'custom-columns=NAME:.metadata.name,IMAGE:.spec.containers[0].image', ...here],
      stdout: /^web +registry\.example\/web:1\.2$/m,
    },
    {
      name: 'get -o jsonpath',
      args: ['get', 'secret', 'login', '-o', 'jsonpath={.data.password}', ...here],
      stdout: /^aHVzaA==$/,
    },
    { name: 'get -l', args: ['get', 'pods', '-l', 'app in (web)', '--no-headers', ...here], stdout: /^web .*\n$/ },
    { name: 'get -l, none', args: ['get', 'pods', '-l', 'app=other', ...here], stderr: /^No resources found/ },
    {
      name: 'get --field-selector',
      args: ['get', 'pods', '--field-selector=metadata.name=job,status.phase=Pending', '-o', 'name', ...here],
      stdout: /^pod\/job\n$/,
    },
    {
      name: 'get --sort-by',
      args: ['get', 'pods', '--sort-by=.metadata.name', '-o', 'name', ...here],
      stdout: /^pod\/job\npod\/web\n$/,
    },
    {
      name: 'get --chunk-size',
      args: ['get', 'ns', '--chunk-size=2', '-o', 'name'],
      stdout: /^namespace\/default$[^]*kube-system$/m,
    },
    { name: 'get --show-labels', args: ['get', 'pod', 'web', '--show-labels', ...here], stdout: /LABELS[^]*app=web/ },
    {
      name: 'get of an absent object',
      args: ['get', 'cm', 'missing', ...here],
      code: 1,
      stderr: /\(NotFound\): configmaps "missing" not found/,
    },
    {
      name: 'get of an unknown kind',
      args: ['get', 'nonsense', ...here],
      code: 1,
      stderr: /the server doesn't have a resource type "nonsense"/,
    },
    { name: 'get -w', args: ['get', 'cm', 'settings', '-w', ...here], until: /^settings +1 /m },
    {
      name: 'get -w --output-watch-events',
      args: ['get', 'pods', '-w', '--output-watch-events', ...here],
      until: /ADDED +web /,
    },

    {
      name: 'label',
      args: ['label', 'cm', 'settings', 'tier=back', ...here],
      stdout: /^configmap\/settings labeled$/m,
    },
    {
      name: 'label again',
      args: ['label', 'cm', 'settings', 'tier=front', ...here],
      code: 1,
      stderr: /'tier' already has a value/,
    },
    {
      name: 'label --overwrite',
      args: ['label', 'cm', 'settings', 'tier=front', '--overwrite', ...here],
      stdout: /labeled/,
    },
    { name: 'label, removing one', args: ['label', 'cm', 'settings', 'tier-', ...here], stdout: /unlabeled/ },
    { name: 'annotate', args: ['annotate', 'pod', 'web', 'note=hello', ...here], stdout: /^pod\/web annotated?$/m },
    {
      name: 'patch --type=merge',
      args: ['patch', 'cm', 'settings', '--type=merge', '-p', '{"data":{"size":"xl","colour":null}}', ...here],
      stdout: /patched/,
    },
    {
      name: 'get shows the patch',
      args: ['get', 'cm', 'settings', '-o', 'jsonpath={.data}', ...here],
      stdout: /^\{"size":"xl"\}$/,
    },
    {
      name: 'patch --type=json',
      args: [
        'patch',
        'cm',
        'settings',
        '--type=json',
        '-p',
        '[{"op":"replace","path":"/data/size","value":"s"}]',
        ...here,
      ],
      stdout: /patched/,
    },
    {
      name: 'patch --type=json with a failing operation',
      args: [
        'patch',
        'cm',
        'settings',
        '--type=json',
        '-p',
        '[{"op":"test","path":"/data/size","value":"m"}]',
        ...here,
      ],
      code: 1,
      stderr: /.+/,
    },
    {
      name: 'replace',
      args: ['replace', ...unvalidated, ...here],
      stdin: manifest('ConfigMap', 'settings', 'data: {colour: red}\n'),
      stdout: /^configmap\/settings replaced$/m,
    },
    {
      name: 'replace of an absent object',
      args: ['replace', ...unvalidated, ...here],
      stdin: manifest('ConfigMap', 'missing', 'data: {}\n'),
      code: 1,
      stderr: /\(NotFound\)/,
    },
    {
      name: 'patch, strategically',
      args: ['patch', 'cm', 'settings', '-p', '{"data":{"shade":"dark"}}', ...here],
      stdout: /patched/,
    },
    {
      name: 'create, validated',
      args: ['create', '-f', '-', ...here],
      stdin: manifest('ConfigMap', 'checked', 'data: {colour: red}\n'),
      stdout: /^configmap\/checked created$/m,
    },
    {
      name: 'replace, validated',
      args: ['replace', '-f', '-', ...here],
      stdin: manifest('ConfigMap', 'applied', 'data: {colour: blue}\n'),
      code: 1,
      stderr: /\(NotFound\): .*configmaps "applied" not found/,
    },
    {
      name: 'apply',
      args: ['apply', '-f', '-', ...here],
      stdin: manifest('ConfigMap', 'applied', 'data: {colour: red}\n'),
      stdout: /^configmap\/applied created$/m,
    },
    {
      name: 'replace of an applied object, validated',
      args: ['replace', '-f', '-', ...here],
      stdin: manifest('ConfigMap', 'applied', 'data: {colour: blue}\n'),
      stdout: /^configmap\/applied replaced$/m,
    },
    {
      name: 'apply --server-side',
      args: ['apply', '--server-side', '-f', '-', ...here],
      stdin: manifest('ConfigMap', 'applied', 'data: {colour: green}\n'),
      code: 1,
      stderr: /Apply failed with 1 conflict: conflict with "kubectl-replace".*: \.data\.colour/,
    },
    {
      name: 'apply --server-side --force-conflicts',
      args: ['apply', '--server-side', '--force-conflicts', '-f', '-', ...here],
      stdin: manifest('ConfigMap', 'applied', 'data: {colour: green}\n'),
      stdout: /^configmap\/applied serverside-applied$/m,
    },
    {
      name: 'apply of a deployment',
      args: ['apply', '-f', '-', ...here],
      stdin: deployment('example.com/app:1'),
      stdout: /^deployment.apps\/app created$/m,
    },
    {
      name: 'apply again',
      args: ['apply', '-f', '-', ...here],
      stdin: deployment('example.com/app:1'),
      stdout: /^deployment.apps\/app unchanged$/m,
    },
    {
      name: 'diff',
      args: ['diff', '-f', '-', ...here],
      stdin: deployment('example.com/app:2'),
      code: 1,
      stdout: /^\+ +- image: example\.com\/app:2$/m,
    },
    {
      name: 'set image',
      args: ['set', 'image', 'deployment/app', 'main=example.com/app:3', ...here],
      stdout: /^deployment.apps\/app image updated$/m,
    },
    {
      name: 'scale',
      args: ['scale', 'deployment/app', '--replicas=3', ...here],
      stdout: /^deployment.apps\/app scaled$/m,
    },
    {
      name: 'autoscale',
      args: ['autoscale', 'deployment/app', '--max=5', '--min=2', ...here],
      stdout: /^horizontalpodautoscaler.autoscaling\/app autoscaled$/m,
    },
    {
      name: 'get of several kinds',
      args: ['get', 'deployments,hpa', ...here],
      stdout: /^deployment.apps\/app +0\/3[^]*^horizontalpodautoscaler.autoscaling\/app +Deployment\/app/m,
    },
    { name: 'describe deployment', args: ['describe', 'deployment', 'app', ...here], stdout: /^Replicas: +3 desired/m },
    { name: 'explain of a whole kind', args: ['explain', 'deployments', '--recursive'], stdout: /^ +maxSurge\s+</m },
    {
      name: 'explain',
      args: ['explain', 'configmap.metadata'],
      stdout: /^KIND: +ConfigMap$[^]*^ +labels\s+<map\[string\]string>$/m,
    },
    {
      name: 'explain fields of a kind',
      args: ['explain', 'pod.spec'],
      stdout: /containers/,
    },
    {
      name: 'auth can-i',
      args: ['auth', 'can-i', 'create', 'pods', ...here],
      stdout: /^yes$/m,
    },
    {
      name: 'create token',
      args: ['create', 'token', 'robot', ...here],
      stdout: /^ey/,
    },
    { name: 'describe configmap', args: ['describe', 'cm', 'settings', ...here], stdout: /^colour:$[^]*^red$/m },
    {
      name: 'describe pod',
      args: ['describe', 'pod', 'web', ...here],
      stdout: /^Status: +Pending$[^]*^QoS Class: +Burstable$/m,
    },
    { name: 'describe secret', args: ['describe', 'secret', 'login', ...here], stdout: /^password: +4 bytes$/m },
    { name: 'describe service', args: ['describe', 'service', 'web', ...here], stdout: /^TargetPort: +8080\/TCP$/m },
    { name: 'describe namespace', args: ['describe', 'ns', namespace], stdout: /^Status: +Active$/m },
    { name: 'events', args: ['events', ...here], code: 0 },

    ...customKindSteps(namespace),
    ...generatorSteps(namespace),
    ...everyKindSteps(),
    ...readSteps(namespace),
    ...writeSteps(`${namespace}-w`),

    { name: 'delete, not waiting', args: ['delete', 'cm', 'settings', '--wait=false', ...here], stdout: /deleted/ },
    {
      name: 'delete, orphaning',
      args: ['delete', 'cm', 'settings', '--cascade=orphan', '--ignore-not-found', ...here],
    },
    { name: 'delete, at once', args: ['delete', 'pod', 'job', '--now', ...here], stdout: /deleted/ },
    {
      name: 'delete --force',
      args: ['delete', 'pod', 'web', '--force', '--grace-period=0', ...here],
      stdout: /deleted/,
    },
    { name: 'delete --all', args: ['delete', 'secrets', '--all', ...here], stdout: /^secret "login" deleted/m },
    {
      name: 'delete --ignore-not-found',
      args: ['delete', 'cm', 'settings', '--ignore-not-found', ...here],
      stdout: /^$/,
    },
    {
      name: 'delete namespaces',
      args: ['delete', 'ns', namespace, `${namespace}-more`, '--ignore-not-found', '--timeout=60s'],
      stdout: /deleted/,
    },
    {
      name: 'namespaces are gone',
      args: ['get', 'ns', namespace],
      code: 1,
      stderr: /\(NotFound\): namespaces /,
    },
  ];
}

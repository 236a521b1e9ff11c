import type { Step } from './step.js';

const http1 = { GODEBUG: 'http2client=0' };

const pod = (name: string, tier: string, cpu: string) => `apiVersion: v1
kind: Pod
metadata: {name: ${name}, labels: {tier: ${tier}, name: ${name}}}
spec:
  containers:
  - {name: main, image: 'registry.example/${name}:1', resources: {requests: {cpu: ${cpu}}}}
`;

const pods = [
  ['alder', 'front', '300m'],
  ['birch', 'back', '100m'],
  ['cedar', 'front', '200m'],
] as const;

const settings = Array.from(
  { length: 7 },
  (_, n) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s-${n}}\ndata: {number: '${n}'}\n`,
);

/** Matches output with exactly these names, in this order. */
const inOrder = (...names: string[]) => new RegExp(`^${names.map((name) => `${name}\\b[^\\n]*\\n`).join('')}$`);

/** All ways to read, in a namespace of its own; once over HTTP/2 and once over HTTP/1.1. */
export function readSteps(prefix: string): readonly Step[] {
  const namespace = `${prefix}-reads`;
  const here = ['-n', namespace];
  const reads: readonly Step[] = [
    { name: 'a table', args: ['get', 'pods', '--no-headers', ...here], stdout: inOrder('alder', 'birch', 'cedar') },
    {
      name: 'a table of the server, wide',
      args: ['get', 'pods', '-o', 'wide', ...here],
      stdout: /^NAME +READY +STATUS +RESTARTS +AGE +IP +NODE +NOMINATED NODE +READINESS GATES\nalder +0\/1 +Pending/,
    },
    {
      name: 'a table printed by the client',
      args: ['get', 'pods', '--server-print=false', ...here],
      stdout: /^NAME +AGE\nalder +\S+\nbirch +\S+\ncedar +\S+\n$/,
    },
    {
      name: 'page by page',
      args: [
        'get',
        'configmaps',
        '-o',
        'name',
        '--chunk-size=2',
        '--field-selector=metadata.name!=kube-root-ca.crt',
        ...here,
      ],
      stdout: inOrder(...settings.map((_, n) => `configmap/s-${n}`)),
    },
    {
      name: 'tables page by page',
      args: [
        'get',
        'configmaps',
        '--no-headers',
        '--chunk-size=3',
        '--field-selector=metadata.name!=kube-root-ca.crt',
        ...here,
      ],
      stdout: inOrder(...settings.map((_, n) => `s-${n}`)),
    },
    {
      name: 'all at once',
      args: ['get', 'configmaps', '-o', 'name', '--chunk-size=0', ...here],
      stdout: /^configmap\/s-6$/m,
    },
    {
      name: '--sort-by a field',
      args: ['get', 'pods', '--no-headers', '--sort-by=.spec.containers[0].resources.requests.cpu', ...here],
      stdout: inOrder('birch', 'cedar', 'alder'),
    },
    {
      name: '--sort-by a name, as YAML',
      args: ['get', 'pods', '--sort-by=.metadata.name', '-o', 'jsonpath={.items[*].metadata.name}', ...here],
      stdout: /^alder birch cedar$/,
    },
    {
      name: '-l, equal',
      args: ['get', 'pods', '-l', 'tier=front', '-o', 'name', ...here],
      stdout: /^pod\/alder\npod\/cedar\n$/,
    },
    {
      name: '-l, sets and absence',
      args: ['get', 'pods', '-l', 'tier notin (front),name in (alder,birch),!other', '-o', 'name', ...here],
      stdout: /^pod\/birch\n$/,
    },
    {
      name: '-l, nothing',
      args: ['get', 'pods', '-l', 'tier=middle', ...here],
      stderr: /^No resources found in \S+ namespace\.$/m,
    },
    {
      name: '--field-selector',
      args: ['get', 'pods', '--field-selector=metadata.name!=birch,spec.nodeName=', '-o', 'name', ...here],
      stdout: /^pod\/alder\npod\/cedar\n$/,
    },
    {
      name: '--field-selector with an unknown field',
      args: ['get', 'pods', '--field-selector=spec.hostname=x', ...here],
      code: 1,
      stderr: /\(BadRequest\): [^]*field label not supported: spec\.hostname/,
    },
    {
      name: '-o yaml',
      args: ['get', 'pod', 'birch', '-o', 'yaml', ...here],
      stdout: /^ {6}requests:\n {8}cpu: 100m$/m,
    },
    {
      name: '-o yaml of a list',
      args: ['get', 'cm', '-o', 'yaml', ...here],
      stdout: /^apiVersion: v1\nitems:\n- apiVersion: v1\n[^]*\nkind: List\n/,
    },
    {
      name: '-o json',
      args: ['get', 'cm', 's-1', '-o', 'json', ...here],
      stdout: /^ {4}"data": \{\n {8}"number": "1"\n {4}\}/m,
    },
    {
      name: '-o json, managed fields',
      args: ['get', 'cm', 's-1', '-o', 'json', '--show-managed-fields', ...here],
      stdout: /"f:number"/,
    },
    {
      name: '-o name',
      args: ['get', 'pod/birch', 'cm/s-3', '-o', 'name', ...here],
      stdout: /^pod\/birch\nconfigmap\/s-3\n$/,
    },
    {
      name: '-o jsonpath',
      args: [
        'get',
        'pods',
        '-o',
        'jsonpath={range .items[*]}{.metadata.name}={.spec.containers[0].image};{end}',
        ...here,
      ],
      stdout: /^alder=registry\.example\/alder:1;birch=registry\.example\/birch:1;cedar=registry\.example\/cedar:1;$/,
    },
    {
      name: '-o go-template',
      args: ['get', 'cm', 's-4', '-o', 'go-template={{.data.number}} {{.kind}}', ...here],
      stdout: /^4 ConfigMap$/,
    },
    {
      name: '-o custom-columns',
      args: [
        'get',
        'pods',
        '-o',
        'custom-columns=POD:.metadata.name,CPU:.spec.containers[*].resources.requests.cpu',
        ...here,
      ],
      stdout: /^POD +CPU\nalder +300m\nbirch +100m\ncedar +200m\n$/,
    },
    {
      name: '-L',
      args: ['get', 'pods', '-L', 'tier', '--no-headers', ...here],
      stdout: /^alder .* front\nbirch .* back\ncedar .* front\n$/,
    },
    {
      name: 'a URL',
      args: ['get', '--raw', `/api/v1/namespaces/${namespace}/configmaps?limit=1`],
      stdout: /"remainingItemCount":\d/,
    },
    {
      name: '-w',
      args: ['get', 'pods', '-w', ...here],
      until: /^NAME .*\nalder [^]*\nbirch [^]*\ncedar [^]*\n/,
    },
    {
      name: '-w of some, as objects',
      args: ['get', 'pods', '-w', '-l', 'tier=back', '-o', 'jsonpath={.metadata.name};', ...here],
      until: /^birch;$/,
    },
    {
      name: '-w of one object, --output-watch-events',
      args: ['get', 'cm', 's-2', '-w', '--output-watch-events', '-o', 'json', ...here],
      until: /"type": ?"ADDED"[^]*"name": ?"s-2"/,
    },
    {
      name: 'wait for a condition that is met',
      args: ['wait', '--for=jsonpath={.data.number}=5', 'cm/s-5', '--timeout=20s', ...here],
      stdout: /^configmap\/s-5 condition met$/m,
    },
  ];
  return [
    { name: `namespace ${namespace}`, args: ['create', 'namespace', namespace] },
    {
      name: 'objects to read',
      args: ['create', '-f', '-', ...here],
      stdin: [...pods.map(([name, tier, cpu]) => pod(name, tier, cpu)), ...settings].join('---\n'),
      stdout: /^configmap\/s-6 created$/m,
    },
    ...reads.map((step) => ({ ...step, name: `read over HTTP/2: ${step.name}` })),
    ...reads.map((step) => ({ ...step, name: `read over HTTP/1.1: ${step.name}`, env: http1 })),
    { name: 'delete the objects', args: ['delete', 'namespace', namespace, '--timeout=25s'], stdout: /deleted/ },
  ];
}

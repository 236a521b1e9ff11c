import { configMap, workload } from './manifests.js';
import type { Step } from './step.js';

/** Client-side and server-side apply, changes from one to the other, and pruning. */
export function applySteps(namespace: string): readonly Step[] {
  const here = ['-n', namespace];
  const apply = (...more: string[]) => ['apply', '-f', '-', ...more, ...here];
  const ssa = (...more: string[]) => apply('--server-side', ...more);
  const data = (name: string, stdout: RegExp): Step => ({
    name: `data of ${name}`,
    args: ['get', 'cm', name, '-o', 'jsonpath={.data}', ...here],
    stdout,
  });
  const managers = (name: string, stdout: RegExp): Step => ({
    name: `managers of ${name}`,
    args: [
      'get',
      'cm',
      name,
      '--show-managed-fields',
      '-o',
      'jsonpath={range .metadata.managedFields[*]}{.manager} {.operation}{"\\n"}{end}',
      ...here,
    ],
    stdout,
  });
  const gone = (name: string): Step => ({
    name: `${name} is deleted`,
    args: ['get', 'cm', name, ...here],
    code: 1,
    stderr: /\(NotFound\)/,
  });

  // prettier-ignore
  return [
    { name: 'apply, client side', args: apply(), stdin: configMap('a', 'x: "1", y: "2"'), stdout: /^configmap\/a created$/m },
    { name: 'apply a change', args: apply(), stdin: configMap('a', 'x: "3"'), stdout: /^configmap\/a configured$/m },
    data('a', /^\{"x":"3"\}$/),
    { name: 'apply without a change', args: apply(), stdin: configMap('a', 'x: "3"'), stdout: /^configmap\/a unchanged$/m },
    { name: 'view-last-applied', args: ['apply', 'view-last-applied', 'cm/a', '-o', 'json', ...here], stdout: /"x": "3"/ },
    { name: 'set-last-applied', args: ['apply', 'set-last-applied', '-f', '-', ...here], stdin: configMap('a', 'x: four'), stdout: /configured/ },
    { name: 'edit-last-applied', args: ['apply', 'edit-last-applied', 'cm/a', ...here], env: { KUBE_EDITOR: 'sed -i s/four/five/' }, stdout: /edited/ },
    { name: 'view-last-applied after the edit', args: ['apply', 'view-last-applied', 'cm/a', ...here], stdout: /x: five/ },
    { name: 'apply, and print', args: apply('-o', 'yaml'), stdin: configMap('a', 'x: "3"'), stdout: /^kind: ConfigMap$/m },
    { name: 'diff without a change', args: ['diff', '-f', '-', ...here], stdin: configMap('a', 'x: "3"'), stdout: /^$/ },
    { name: 'diff, server side', args: ['diff', '--server-side', '--field-manager=other', '-f', '-', ...here], stdin: configMap('a', 'x: "6"'), code: 2, stderr: /conflict with "kubectl-client-side-apply"/ },
    { name: 'diff, server side by force', args: ['diff', '--server-side', '--force-conflicts', '-f', '-', ...here], stdin: configMap('a', 'x: "6"'), code: 1, stdout: /^\+ +x: "6"$/m },
    { name: 'diff of a new object', args: ['diff', '-f', '-', ...here], stdin: configMap('new', 'x: "6"'), code: 1, stdout: /^\+kind: ConfigMap$/m },
    data('a', /^\{"x":"3"\}$/),
    { name: 'apply of an invalid object', args: apply(), stdin: configMap('a', 'x: 1'), code: 1, stderr: /cannot unmarshal number into Go struct field ConfigMap\.data of type string/ },

    managers('a', /^kubectl-client-side-apply Update\n/),
    { name: 'apply, server side after client side', args: ssa(), stdin: configMap('a', 'x: "7"'), stdout: /^configmap\/a serverside-applied$/m },
    managers('a', /^(?![^]*kubectl-client-side-apply)[^]*^kubectl Apply$/m),
    { name: 'apply, server side without a field', args: ssa(), stdin: configMap('a', 'z: "8"'), stdout: /serverside-applied/ },
    data('a', /^\{"z":"8"\}$/),
    { name: 'view-last-applied after server side', args: ['apply', 'view-last-applied', 'cm/a', ...here], stdout: /z: "8"/ },
    { name: 'apply, client side after server side', args: apply(), stdin: configMap('a', 'z: "9"'), stdout: /^configmap\/a configured$/m },
    data('a', /^\{"z":"9"\}$/),
    { name: 'apply, server side again', args: ssa(), stdin: configMap('a', 'z: "9"'), stdout: /serverside-applied/ },
    managers('a', /^(?![^]*kubectl-client-side-apply)[^]*^kubectl Apply$/m),
    { name: 'apply by another manager', args: ssa('--field-manager=other'), stdin: configMap('a', 'o: "1"'), stdout: /serverside-applied/ },
    data('a', /^\{"o":"1","z":"9"\}$/),
    { name: 'apply by another manager of the same field (conflict)', args: ssa('--field-manager=other'), stdin: configMap('a', 'o: "1", z: "0"'), code: 1, stderr: /Apply failed with 1 conflict: conflict with "kubectl.*": \.data\.z/ },
    { name: 'apply by another manager with --force-conflicts', args: ssa('--field-manager=other', '--force-conflicts'), stdin: configMap('a', 'o: "1", z: "0"'), stdout: /serverside-applied/ },
    data('a', /^\{"o":"1","z":"0"\}$/),
    { name: 'apply by another manager of no fields', args: ssa('--field-manager=other'), stdin: configMap('a'), stdout: /serverside-applied/ },
    data('a', /^$/),
    { name: 'apply of a workload, server side', args: ssa(), stdin: workload('Deployment', 'ssa', 'example.com/app:1'), stdout: /^deployment.apps\/ssa serverside-applied$/m },
    { name: 'apply of the same workload', args: ssa('-o', 'jsonpath={.metadata.generation}'), stdin: workload('Deployment', 'ssa', 'example.com/app:1'), stdout: /^1$/ },
    { name: 'apply of a change of an immutable field', args: apply(), stdin: workload('Deployment', 'ssa', 'example.com/app:1').replaceAll('app: ssa', 'app: other'), code: 1, stderr: /spec\.selector: Invalid value[^]*field is immutable/ },
    { name: 'apply --force', args: apply('--force'), stdin: workload('Deployment', 'ssa', 'example.com/app:1').replaceAll('app: ssa', 'app: other'), stdout: /^deployment.apps\/ssa (configured|created)$/m },

    { name: 'apply objects to prune later', args: apply(), stdin: ['p1', 'p2'].map((name) => configMap(name, '', 'set: p')).join('---\n'), stdout: /p1 created[^]*p2 created/ },
    { name: 'apply --prune, dry', args: apply('--prune', '-l', 'set=p', '--prune-allowlist=core/v1/ConfigMap', '--dry-run=server'), stdin: configMap('p1', '', 'set: p'), stdout: /p1 unchanged \(server dry run\)[^]*p2 pruned \(server dry run\)/ },
    { name: 'apply --prune', args: apply('--prune', '-l', 'set=p', '--prune-allowlist=core/v1/ConfigMap'), stdin: configMap('p1', '', 'set: p'), stdout: /^configmap\/p2 pruned$/m },
    gone('p2'),
    { name: 'apply of an ApplySet', args: apply('--prune', '--applyset=mine'), env: { KUBECTL_APPLYSET: 'true' }, stdin: ['s1', 's2'].map((name) => configMap(name)).join('---\n'), stdout: /s1 (created|serverside-applied)[^]*s2/ },
    { name: 'the ApplySet parent has the kinds', args: ['get', 'secret', 'mine', '-o', 'jsonpath={.metadata.annotations}', ...here], stdout: /"applyset\.kubernetes\.io\/contains-group-kinds":"ConfigMap"|contains-group-resources":"configmaps"/ },
    { name: 'apply of a subset of the ApplySet', args: apply('--prune', '--applyset=mine'), env: { KUBECTL_APPLYSET: 'true' }, stdin: configMap('s1'), stdout: /^configmap\/s2 pruned$/m },
    gone('s2'),
    { name: 'apply of an ApplySet, server side', args: ssa('--prune', '--applyset=configmaps/own'), env: { KUBECTL_APPLYSET: 'true' }, stdin: configMap('s3'), stdout: /^configmap\/s3 serverside-applied$/m },

    ...validating(namespace),
  ];
}

/** Unknown fields under all values of --validate. */
function validating(namespace: string): readonly Step[] {
  const here = ['-n', namespace];
  const odd = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: odd}\ndata: {x: "1"}\nzz: 1\n';
  const apply = (level: string, ...more: string[]) => ['apply', `--validate=${level}`, '-f', '-', ...more, ...here];
  // prettier-ignore
  return [
    { name: 'apply --validate=strict', args: apply('strict'), stdin: odd, code: 1, stderr: /strict decoding error: unknown field "zz"/ },
    { name: 'create with unknown fields (default validation)', args: ['create', '-f', '-', ...here], stdin: odd, code: 1, stderr: /strict decoding error: unknown field "zz"/ },
    { name: 'apply --validate=warn', args: apply('warn'), stdin: odd, stdout: /odd created/, stderr: /^Warning: unknown field "zz"$/m },
    { name: 'apply --validate=ignore', args: apply('ignore'), stdin: odd, stdout: /odd (unchanged|configured)/, stderr: /^$/ },
    { name: 'replace --validate=strict', args: ['replace', '--validate=strict', '-f', '-', ...here], stdin: odd, code: 1, stderr: /strict decoding error: unknown field "zz"/ },
    { name: 'replace --validate=warn', args: ['replace', '--validate=warn', '-f', '-', ...here], stdin: odd, stdout: /odd replaced/, stderr: /^Warning: unknown field "zz"$/m },
    { name: 'apply --validate=strict, server side', args: apply('strict', '--server-side'), stdin: odd, code: 1, stderr: /unknown field|field not declared in schema/ },
    { name: 'apply --validate=ignore, server side', args: apply('ignore', '--server-side'), stdin: odd, code: 1, stderr: /field not declared in schema/ },
  ];
}

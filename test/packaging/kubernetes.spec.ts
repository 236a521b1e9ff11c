import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findKubectls } from '../../scripts/kubectl/kubectl.js';
import { packageRoot } from '../../src/config/config-files.js';
import { loadConfig } from '../../src/config/load-config.js';
import {
  collectionOf,
  createStrictly,
  manifestsOf,
  type Container,
  type Manifest,
} from '../harness/packaged-objects.js';
import { findProgram, packagedDocuments, packagingPath, runTool } from '../harness/packaging.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

const chart = packagingPath('helm/keelson');
const read = (name: string) => manifestsOf(readFileSync(packagingPath('kubernetes', name), 'utf8'));
const order = [
  'namespace.yaml',
  'service-account.yaml',
  'deployment.yaml',
  'service.yaml',
  'pod-disruption-budget.yaml',
];
const deployment = read('deployment.yaml')[0]!;

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' });
});
afterEach(() => server.stop());

/** Flags of a container, checked as the server does at its start. */
function problemsOfFlags({ command = [], args = [] }: Container): readonly string[] {
  const words = [...command, ...args]
    .filter((word) => word.startsWith('--'))
    .map((word) => word.replace('$(POD_IP)', '10.1.2.3'));
  const defaults = command.some((word) => word.endsWith('kube-apiserver')) ? 'kube-apiserver' : 'keelson';
  const result = loadConfig(words, {}, { defaults });
  return result.errors ?? result.warnings.map(({ message }) => message);
}

describe('packaging/kubernetes', () => {
  it('lists every file in kustomization.yaml, except the static Pod and objects of the served cluster', () => {
    const [{ resources }] = packagedDocuments<{ resources: string[] }>('kubernetes/kustomization.yaml') as [
      { resources: string[] },
    ];
    const others = ['kustomization.yaml', 'static-pod.yaml', 'monitoring.yaml'];
    expect([...resources].sort()).toEqual(
      readdirSync(packagingPath('kubernetes'))
        .filter((name) => !others.includes(name))
        .sort(),
    );
    expect([...resources].sort()).toEqual([...order].sort());
  });

  it('is created with strict field validation and without a warning', async () => {
    expect(await createStrictly(server.admin, order.flatMap(read))).toEqual([]);
    const { body } = await server.admin.get('/apis/apps/v1/namespaces/keelson/deployments/keelson');
    expect(body.spec.template.spec.volumes[0].secret.defaultMode).toBe(0o440);
  });

  it('has Pods that a namespace with the level restricted admits', async () => {
    await createStrictly(server.admin, order.slice(0, 2).flatMap(read));
    const { metadata, spec } = deployment.spec.template;
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, name: 'a', namespace: 'keelson' }, spec };
    expect(await createStrictly(server.admin, [pod])).toEqual([]);
    const asRoot = { ...pod, spec: { ...spec, securityContext: { ...spec.securityContext, runAsUser: 0 } } };
    expect(await createStrictly(server.admin, [asRoot])).toContainEqual(expect.stringContaining('restricted'));
  });

  it('has a static Pod that is created, with flags that the server accepts', async () => {
    const manifests = read('static-pod.yaml');
    expect(await createStrictly(server.admin, manifests)).toEqual([]);
    expect(problemsOfFlags(manifests[0]!.spec.containers[0] as Container)).toEqual([]);
  });

  it('has a Deployment whose flags are accepted and whose files are in mounted volumes', () => {
    const [container] = deployment.spec.template.spec.containers as Container[];
    expect(problemsOfFlags(container!)).toEqual([]);
    const mounts = container!.volumeMounts.map(({ mountPath }) => `${mountPath}`);
    const paths = container!.args!.map((word) => /=(\/.*)$/.exec(word)?.[1]).filter((path) => path !== undefined);
    expect(paths.length).toBeGreaterThanOrEqual(6);
    expect(paths.filter((path) => !mounts.some((mount) => `${path}/`.startsWith(`${mount}/`)))).toEqual([]);
  });

  it('lets the account of monitoring.yaml read metrics and nothing else', async () => {
    expect(await createStrictly(server.admin, read('monitoring.yaml'))).toEqual([]);
    const path = '/api/v1/namespaces/monitoring/serviceaccounts/prometheus/token';
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
    const { token } = (await server.admin.post(path, review)).body.status as { token: string };
    const prometheus = server.client({ token });
    for (const url of ['/metrics', '/livez', '/readyz'])
      expect([url, (await prometheus.get(url)).code]).toEqual([url, 200]);
    expect((await prometheus.get('/api/v1/secrets')).code).toBe(403);
  });

  const [kubectl] = findKubectls(packageRoot);
  (kubectl ? it : it.skip)('is applied by kubectl apply -k, and again without a change', async () => {
    const words = ['--kubeconfig', await server.keelson.kubeconfigFile(), 'apply', '-k', packagingPath('kubernetes')];
    const apply = async () => (await runTool(kubectl!.path, words)).trimEnd().split('\n');
    expect(await apply()).toHaveLength(order.length);
    // kubectl replaces the selector of a PodDisruptionBudget each time, and calls that "configured".
    const changed = (await apply()).filter((line) => !line.endsWith(' unchanged'));
    expect(changed.filter((line) => !line.startsWith('poddisruptionbudget'))).toEqual([]);
    const { body } = await server.admin.get('/apis/policy/v1/namespaces/keelson/poddisruptionbudgets/keelson');
    expect(body.metadata.generation).toBe(1);
  });
});

describe('the Helm chart', () => {
  interface Schema {
    readonly properties?: Readonly<Record<string, Schema>>;
    readonly additionalProperties?: unknown;
  }
  const [values] = packagedDocuments<Record<string, unknown>>('helm/keelson/values.yaml');
  const schema = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8')) as Schema;

  it('has a schema of exactly the values that it has', () => {
    const compare = (value: unknown, { properties }: Schema, path: string): string[] => {
      if (properties === undefined || typeof value !== 'object' || value === null) return [];
      const keys = new Set([...Object.keys(value), ...Object.keys(properties)]);
      return [...keys].flatMap((key) => {
        const child = (value as Record<string, unknown>)[key];
        // Helm gives `global` to every chart.
        if (path + key === 'global') return [];
        if (child === undefined || properties[key] === undefined) return [path + key];
        return compare(child, properties[key], `${path}${key}.`);
      });
    };
    expect(compare(values, schema, '')).toEqual([]);
  });

  const helm = findProgram('helm', 'rendering of the Helm chart');
  const test = helm === undefined ? it.skip : it;
  const template = (...words: readonly string[]) =>
    runTool(helm!, ['template', chart, '--namespace=keelson', '--kube-version=v1.36.0', ...words]);
  const kindOf = (manifests: readonly Manifest[], kind: string) => manifests.find((one) => one.kind === kind)!;

  test('passes helm lint', async () => {
    expect(await runTool(helm!, ['lint', '--strict', chart])).toContain('0 chart(s) failed');
  });

  test('renders the Deployment, Service and PodDisruptionBudget of packaging/kubernetes', async () => {
    const rendered = manifestsOf(await template('--name-template=keelson'));
    for (const name of order.slice(1)) {
      const [plain] = read(name);
      expect(withoutLabels(kindOf(rendered, plain!.kind))).toEqual(withoutLabels(plain!));
    }
  });

  test('is created with strict field validation, by default and with all values', async () => {
    await createStrictly(server.admin, read('namespace.yaml'));
    expect(await createStrictly(server.admin, manifestsOf(await template('--name-template=keelson')))).toEqual([]);
    const folder = mkdtempSync(join(tmpdir(), 'keelson-values-'));
    const file = join(folder, 'values.yaml');
    writeFileSync(
      file,
      JSON.stringify({
        image: { tag: '1.2.3' },
        imagePullSecrets: [{ name: 'registry' }],
        flags: { 'max-requests-inflight': 800, 'disable-http2-serving': true },
        service: { type: 'LoadBalancer', port: 6443, annotations: { a: 'b' } },
        podDisruptionBudget: { enabled: false },
        podAnnotations: { a: '1' },
        nodeSelector: { disk: 'fast' },
        tolerations: [{ operator: 'Exists' }],
        affinity: { nodeAffinity: {} },
      }),
    );
    const rendered = manifestsOf(await template(`--values=${file}`, '--name-template=other'));
    rmSync(folder, { recursive: true });
    expect(await createStrictly(server.admin, rendered)).toEqual([]);
    expect(rendered.map(({ kind }) => kind).sort()).toEqual(['Deployment', 'Service', 'ServiceAccount']);
    const [container] = kindOf(rendered, 'Deployment').spec.template.spec.containers as Container[];
    expect(container!.image).toBe('keelson:1.2.3');
    expect(container!.args).toEqual(
      expect.arrayContaining(['--disable-http2-serving=true', '--max-requests-inflight=800']),
    );
    expect(problemsOfFlags(container!)).toEqual([]);
  });

  test.each(['etcd.servers={http://etcd:2379}', 'replicas=0', 'replica=2', 'service.type=Any'])(
    'refuses %s',
    async (setting) => {
      await expect(template(`--set=${setting}`)).rejects.toThrow(/values don't meet the specifications of the schema/);
    },
  );

  test('is installed, upgraded and uninstalled by helm on this server', async () => {
    await createStrictly(server.admin, read('namespace.yaml'));
    const words = ['keelson', chart, '--namespace=keelson', '--kubeconfig', await server.keelson.kubeconfigFile()];
    expect(await runTool(helm!, ['install', ...words])).toContain(
      'The first administrator uses keelson-files/admin.kubeconfig',
    );
    await runTool(helm!, ['upgrade', ...words, '--set=replicas=3']);
    const path = `${await collectionOf(server.admin, deployment)}/keelson`;
    expect((await server.admin.get(path)).body.spec.replicas).toBe(3);
    await runTool(
      helm!,
      ['uninstall', ...words].filter((word) => word !== chart),
    );
    expect((await server.admin.get(path)).code).toBe(404);
  });
});

/** The object with the labels of packaging/kubernetes, and sorted arguments. */
function withoutLabels(manifest: Manifest): unknown {
  const own = (key: string) => !/^(app\.kubernetes\.io\/(instance|version|managed-by)|helm\.sh\/chart)$/.test(key);
  const clean = (value: unknown, name: string): unknown => {
    if (Array.isArray(value)) {
      const items = value.map((item) => clean(item, ''));
      return name === 'args' ? (items as string[]).sort() : items;
    }
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).filter(([key]) => own(key));
    return Object.fromEntries(entries.map(([key, item]) => [key, clean(item, key)]));
  };
  return clean(manifest, '');
}

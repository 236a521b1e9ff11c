import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dump } from 'js-yaml';
import type { HttpClient } from './http-client.js';
import { eventually } from './eventually.js';
import { freePorts } from './ports.js';
import { startProgram } from './started-program.js';
import { webhookCertificate } from './webhook-certificate.js';

export const wardleGroup = 'wardle.example.com';
export const wardlePath = `/apis/${wardleGroup}/v1alpha1`;
export const wardleName = `v1alpha1.${wardleGroup}`;

type Program = Awaited<ReturnType<typeof startProgram>>;

/** The server of wardle.example.com in a process of its own, in the place of a Pod of the Service `sample-api`. */
export class WardleServer {
  private program: Program | undefined;

  private constructor(
    private readonly directory: string,
    private readonly address: string,
    readonly port: number,
    /** PEM of the CA of its certificate. */
    readonly ca: string,
    /** The content of the Secret with its certificate. */
    readonly secret: { readonly 'tls.crt': string; readonly 'tls.key': string },
  ) {}

  /** Issues the certificate of `sample-api` in a namespace. */
  static async prepare(namespace: string, address: string): Promise<WardleServer> {
    const issued = await webhookCertificate({ hash: 'SHA-256', names: [`sample-api.${namespace}.svc`] });
    const directory = await mkdtemp(join(tmpdir(), 'wardle-'));
    const secret = { 'tls.crt': issued.certificate, 'tls.key': issued.key };
    await mkdir(join(directory, 'main'));
    for (const [name, text] of Object.entries(secret)) await writeFile(join(directory, name), text, { mode: 0o600 });
    return new WardleServer(directory, address, (await freePorts(1))[0]!, issued.ca, secret);
  }

  /** Starts it with the token of a service account, as a Pod would. */
  async start(main: { readonly url: string; readonly ca: string }, token: string): Promise<void> {
    const kubeconfig = join(this.directory, 'kubeconfig');
    const cluster = { server: main.url, 'certificate-authority-data': Buffer.from(main.ca).toString('base64') };
    const document = {
      ...{ kind: 'Config', apiVersion: 'v1', 'current-context': 'main' },
      clusters: [{ name: 'main', cluster }],
      users: [{ name: 'main', user: { token } }],
      contexts: [{ name: 'main', context: { cluster: 'main', user: 'main' } }],
    };
    await writeFile(kubeconfig, dump(document), { mode: 0o600 });
    await this.restart();
  }

  /** Starts it again after kill(), with the same token. Its objects are lost. */
  async restart(): Promise<void> {
    const options = { directory: this.directory, address: this.address, port: String(this.port) };
    const words = Object.entries({ ...options, kubeconfig: join(this.directory, 'kubeconfig') });
    const file = join(__dirname, 'wardle-server-process.mjs');
    const flags = words.map(([name, value]) => `--${name}=${value}`);
    this.program = await startProgram(process.execPath, [file, ...flags], { cwd: this.directory });
  }

  async kill(): Promise<void> {
    await this.program?.stop('SIGKILL');
    this.program = undefined;
  }

  async remove(): Promise<void> {
    await this.kill();
    await rm(this.directory, { recursive: true, force: true });
  }
}

/** Creates an object, and returns it. */
export async function created(client: HttpClient, path: string, object: object) {
  const { code, text, body } = await client.post(path, object);
  if (code !== 201) throw new Error(`POST ${path}: ${code} ${text}`);
  return body as {
    readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
  };
}

/** The permissions of an aggregated server that runs as the service account `default`. */
export async function permitDelegation(client: HttpClient, namespace: string): Promise<void> {
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const subjects = [{ kind: 'ServiceAccount', name: 'default', namespace }];
  const rule = (apiGroups: string[], resources: string[]) => ({
    apiGroups,
    resources,
    verbs: ['get', 'list', 'watch'],
  });
  const reader = `sample-apiserver-reader-${namespace}`;
  await created(client, `${rbac}/clusterroles`, {
    metadata: { name: reader },
    rules: [
      rule([''], ['namespaces']),
      rule(['admissionregistration.k8s.io'], ['*']),
      rule(['flowcontrol.apiserver.k8s.io'], ['prioritylevelconfigurations', 'flowschemas']),
    ],
  });
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole' };
  await created(client, `${rbac}/clusterrolebindings`, {
    metadata: { name: `wardler:${namespace}${reader}` },
    roleRef: { ...roleRef, name: reader },
    subjects,
  });
  await created(client, `${rbac}/clusterrolebindings`, {
    metadata: { name: `wardler:${namespace}:auth-delegator` },
    roleRef: { ...roleRef, name: 'system:auth-delegator' },
    subjects,
  });
  await created(client, `${rbac}/namespaces/kube-system/rolebindings`, {
    metadata: {
      name: `wardler-auth-reader-${namespace}`,
      annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
    },
    roleRef: { kind: 'Role', name: 'extension-apiserver-authentication-reader' },
    subjects,
  });
}

/** The token of a service account, once the account exists. */
export async function tokenOf(client: HttpClient, namespace: string, account: string): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`;
  const { code, text, body } = await client.post(path, {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    spec: { expirationSeconds: 3600 },
  });
  if (code !== 201) throw new Error(`POST ${path}: ${code} ${text}`);
  return body.status.token as string;
}

/** Starts it behind a Service of the type ExternalName, and waits until its resources are discovered. */
export async function installWardle(
  {
    admin,
    url,
    keelson,
  }: { readonly admin: HttpClient; readonly url: string; readonly keelson: { readonly ca: string } },
  namespace: string,
): Promise<WardleServer> {
  const wardle = await WardleServer.prepare(namespace, '127.0.0.1');
  await permitDelegation(admin, namespace);
  const account = `/api/v1/namespaces/${namespace}/serviceaccounts/default`;
  await eventually('the account exists', async () => (await admin.get(account)).code === 200);
  await wardle.start({ url, ca: keelson.ca }, await tokenOf(admin, namespace, 'default'));
  await created(admin, `/api/v1/namespaces/${namespace}/services`, {
    metadata: { name: 'sample-api' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  });
  await created(admin, '/apis/apiregistration.k8s.io/v1/apiservices', {
    metadata: { name: wardleName },
    spec: {
      service: { namespace, name: 'sample-api', port: wardle.port },
      ...{ group: wardleGroup, version: 'v1alpha1', groupPriorityMinimum: 2000, versionPriority: 200 },
      caBundle: Buffer.from(wardle.ca).toString('base64'),
    },
  });
  await wardleIs(admin, 'Current');
  return wardle;
}

/** Waits until discovery lists the resources of the server, or that they could not be read. */
export async function wardleIs(admin: HttpClient, freshness: 'Current' | 'Stale'): Promise<void> {
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  await eventually(`the group is ${freshness}`, async () => {
    const { body } = await admin.get('/apis', { accept });
    const groups = body.items as { metadata: { name?: string }; versions: { freshness: string }[] }[];
    return groups.find(({ metadata }) => metadata.name === wardleGroup)?.versions[0]?.freshness === freshness;
  });
}

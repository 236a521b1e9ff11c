import type { ConfigOverrides } from '../../src/config/load-config.js';
import { startTestServer, type TestServer } from './servers.js';
import type { HttpClient, Answer, Watch } from './http-client.js';

export const clustersPath = '/apis/clusters.keelson.dev/v1alpha1/logicalclusters';
export const clusterObject = (name: string) => ({
  apiVersion: 'clusters.keelson.dev/v1alpha1',
  kind: 'LogicalCluster',
  metadata: { name },
});

/** A client of one logical cluster: paths are relative to it. */
export class ClusterClient {
  constructor(
    readonly name: string,
    /** The token of the kubeconfig of its administrator. */
    readonly token: string,
    readonly http: HttpClient,
  ) {}

  at = (path: string): string => `/clusters/${this.name}${path}`;
  get = (path: string, headers?: Record<string, string>): Promise<Answer> => this.http.get(this.at(path), headers);
  post = (path: string, body: unknown): Promise<Answer> => this.http.post(this.at(path), body);
  put = (path: string, body: unknown): Promise<Answer> => this.http.put(this.at(path), body);
  patch = (path: string, body: unknown, type?: string): Promise<Answer> => this.http.patch(this.at(path), body, type);
  delete = (path: string, body?: unknown): Promise<Answer> => this.http.delete(this.at(path), body);
  watch = (path: string): Promise<Watch> => this.http.watch(this.at(path));
}

/** A server with --logical-clusters. */
export class ClusterServer {
  private constructor(readonly server: TestServer) {}

  static async start(
    config: ConfigOverrides = {},
    options: Omit<NonNullable<Parameters<typeof startTestServer>[1]>, 'config'> = {},
  ): Promise<ClusterServer> {
    const logicalClusters = { enabled: true, ...config.logicalClusters };
    return new ClusterServer(
      await startTestServer(
        { store: 'memory', naming: 'kubernetes' },
        { ...options, config: { ...config, logicalClusters } },
      ),
    );
  }

  get admin(): HttpClient {
    return this.server.admin;
  }

  /** Creates a logical cluster, and returns a client with the credentials of its kubeconfig. */
  async create(name: string): Promise<ClusterClient> {
    const created = await this.admin.post(clustersPath, clusterObject(name));
    if (created.code !== 201) throw new Error(`logical cluster ${name} was not created: ${created.text}`);
    const token = tokenOf(await this.kubeconfig(name));
    return new ClusterClient(name, token, this.server.client({ token }));
  }

  async kubeconfig(name: string): Promise<string> {
    const answer = await this.admin.post(`${clustersPath}/${name}/kubeconfig`, {
      apiVersion: 'clusters.keelson.dev/v1alpha1',
      kind: 'KubeconfigRequest',
    });
    if (answer.code !== 201) throw new Error(`no kubeconfig of ${name}: ${answer.text}`);
    return answer.body.status.kubeconfig as string;
  }

  stop(): Promise<void> {
    return this.server.stop();
  }
}

interface TwoClusters {
  readonly server: ClusterServer;
  readonly a: ClusterClient;
  readonly b: ClusterClient;
}

/** Starts a server with the logical clusters `a` and `b`. */
export async function startTwoClusters(config: ConfigOverrides = {}): Promise<TwoClusters> {
  const server = await ClusterServer.start(config);
  return { server, a: await server.create('a'), b: await server.create('b') };
}

export function tokenOf(kubeconfig: string): string {
  return /^ +token: '(.*)'$/m.exec(kubeconfig)![1]!;
}

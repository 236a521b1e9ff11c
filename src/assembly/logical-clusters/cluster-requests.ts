import type { RequestListener } from '../../connections/protocol-servers.js';
import type { AnyRequest, AnyResponse } from '../../connections/raw-messages.js';
import { serveAs } from '../../connections/unusual-requests.js';
import { ApiError } from '../../machinery/api-error.js';
import { parseClusterPath } from '../../logical-clusters/cluster-path.js';
import type { AwakeCluster, ClusterIdentity, LogicalClusters } from '../../logical-clusters/logical-clusters.js';
import type { WakingCredentials } from './waking-credentials.js';

interface Dependencies<Awake extends AwakeCluster> {
  readonly clusters: LogicalClusters<Awake>;
  readonly waking: Pick<WakingCredentials, 'permit'>;
  /** Serves a request that assignments know. */
  readonly serve: RequestListener;
}

/** Decides which cluster serves a request, before anything else reads its URL. */
export class ClusterRequests<Awake extends AwakeCluster> {
  /** The cluster of each request, or the reason for which it is refused. */
  private readonly assignments = new WeakMap<AnyRequest, Awake | ApiError>();

  constructor(private readonly dependencies: Dependencies<Awake>) {}

  /** Returns the cluster that serves the request. Throws the reason if none does. */
  clusterOf(request: AnyRequest): Awake {
    const assigned = this.assignments.get(request);
    if (!assigned) throw new Error('the request has no logical cluster');
    if (assigned instanceof ApiError) throw assigned;
    return assigned;
  }

  /** Serves requests below /clusters/NAME. Returns false for all others. `serveByRoot` gets those of unknown clusters. */
  divert(request: AnyRequest, response: AnyResponse, serveByRoot: RequestListener): boolean {
    const target = parseClusterPath(request.url ?? '');
    if (!target) return false;
    const { clusters } = this.dependencies;
    const identity = clusters.known(target.name);
    const awake = identity && clusters.acquireAwake(identity);
    if (!awake) {
      void this.serveAsleep(request, response, target, serveByRoot);
      return true;
    }
    response.once('close', () => clusters.release(identity));
    this.serve(request, response, target.url, awake);
    return true;
  }

  private serve(request: AnyRequest, response: AnyResponse, url: string, assigned: Awake | ApiError): void {
    this.assignments.set(request, assigned);
    serveAs(request, url);
    this.dependencies.serve(request, response);
  }

  private async serveAsleep(
    request: AnyRequest,
    response: AnyResponse,
    { name, url }: { readonly name: string; readonly url: string },
    serveByRoot: RequestListener,
  ): Promise<void> {
    const { clusters, waking } = this.dependencies;
    let isClosed = false;
    response.once('close', () => (isClosed = true));
    let identity: ClusterIdentity | undefined;
    let assigned: Awake | ApiError;
    try {
      identity = clusters.known(name) ?? (await clusters.find(name));
      if (!identity) return serveByRoot(request, response);
      if (!(await waking.permit(request, identity))) throw ApiError.unauthorized();
      // Waking a cluster that was removed meanwhile would write keys that nothing deletes.
      if (clusters.known(name)?.uid !== identity.uid) return serveByRoot(request, response);
      assigned = await clusters.acquire(identity);
    } catch (error) {
      const reason = `logical cluster ${name} could not be read: ${error instanceof Error ? error.message : String(error)}`;
      return this.serve(
        request,
        response,
        url,
        error instanceof ApiError ? error : ApiError.unavailable(reason, error),
      );
    }
    if (isClosed) return clusters.release(identity);
    const served = identity;
    response.once('close', () => clusters.release(served));
    this.serve(request, response, url, assigned);
  }
}

import { ApiError } from '../machinery/api-error.js';
import { fieldError } from '../machinery/field-error.js';
import { asFields } from '../machinery/fields.js';
import type { KubeObject } from '../machinery/kube-object.js';
import { ApiGroup, Subresource, type HandlerResult, type SubresourceRequest } from '../registry/apis/api-group.js';
import { objectTime } from '../registry/write/system-fields.js';
import type { Clock } from '../std/clock.js';
import { clustersVersion, kubeconfigRequest, logicalClusters } from './logical-cluster.resources.js';
import type { LogicalClusters } from './logical-clusters.js';

interface Dependencies {
  readonly clusters: LogicalClusters;
  /** Returns the kubeconfig of a user of the cluster. */
  readonly kubeconfig: (cluster: string, token: string) => string;
  readonly clock: Clock;
}

interface KubeconfigRequest extends KubeObject {
  readonly spec?: unknown;
}
interface KubeconfigRequestSpec {
  readonly expirationSeconds?: unknown;
}

/** A year, as the administrator's certificate of the root. */
const secondsMax = 365 * 24 * 3600;
const secondsMin = 600;

// The server serves it only with --logical-clusters.
@ApiGroup({ ...clustersVersion, isOnByDefault: true, resources: [logicalClusters] })
export class LogicalClustersGroup {
  constructor(private readonly dependencies: Dependencies) {}

  /** POST …/logicalclusters/{name}/kubeconfig: issues a token of the cluster's administrator. */
  @Subresource('logicalclusters', 'kubeconfig')
  async issue({ name, body, context }: SubresourceRequest): Promise<HandlerResult> {
    const { clusters, kubeconfig, clock } = this.dependencies;
    const submitted: KubeconfigRequest | undefined = body;
    const { expirationSeconds = secondsMax }: KubeconfigRequestSpec = asFields(submitted?.spec);
    const seconds = Number(expirationSeconds);
    if (!Number.isSafeInteger(seconds) || seconds < secondsMin || seconds > secondsMax) {
      const detail = `must be a whole number from ${secondsMin} to ${secondsMax}`;
      const problem = fieldError.invalid('spec.expirationSeconds', expirationSeconds, detail);
      throw ApiError.invalid(kubeconfigRequest, name, [problem]);
    }
    const identity = await clusters.find(name, context);
    if (!identity) {
      throw ApiError.notFound({ group: clustersVersion.group, resource: logicalClusters.plural }, name);
    }
    const nowMs = clock.now();
    const granted = { apiVersion: `${clustersVersion.group}/${clustersVersion.version}`, kind: kubeconfigRequest.kind };
    const metadata = { name, creationTimestamp: objectTime(nowMs) };
    // A dry run issues no credentials, and wakes nothing.
    if (context.dryRun) return { object: { ...granted, metadata, spec: { expirationSeconds: seconds }, status: {} } };
    const cluster = await clusters.acquire(identity);
    try {
      const { token, expiresAtMs } = await cluster.issueAdminToken(seconds);
      const status = { kubeconfig: kubeconfig(name, token), expirationTimestamp: objectTime(expiresAtMs) };
      return { object: { ...granted, metadata, spec: { expirationSeconds: seconds }, status } };
    } finally {
      clusters.release(identity);
    }
  }
}

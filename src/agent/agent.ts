import { join } from 'node:path';
import { liveCaBundle, TlsMaterial } from '../certificates/tls-material.js';
import { ownYaml } from '../config/config-files.js';
import { Limits } from '../config/limits.js';
import { Upstreams } from '../forwarding/upstreams.js';
import { AgentAuthenticator } from './access/agent-authenticator.js';
import { AgentAuthorizer } from './access/agent-authorizer.js';
import type { AgentDependencies } from './agent-dependencies.js';
import { removeInterruptedWritesOfAgent } from './certificates/interrupted-writes.js';
import { openApiClient } from './certificates/open-api-client.js';
import { openServingCertificate } from './certificates/serving-certificate.js';
import { CheckpointArchives } from './checkpoint/checkpoint-archives.js';
import { ContainerRuntime } from './cri/container-runtime.js';
import { runtimeFacts } from './cri/runtime-facts.js';
import { AgentMetrics } from './metrics/agent-metrics.js';
import { startNode } from './node/agent-node.js';
import { nodeAddresses } from './node/node-addresses.js';
import { noRuntime } from './node/runtime-information.js';
import type { AgentOptions } from './options/agent-options.js';
import { NodePods } from './pods/node-pods.js';
import { AgentListener } from './server/agent-listener.js';
import { agentRoutes, rootsOf } from './server/agent-routes.js';
import { startAgentServer } from './server/agent-server.js';
import { startHealthServer } from './server/health-server.js';

export interface RunningAgent {
  /** URL of the HTTPS server; undefined with --enable-server=false. */
  readonly url: string | undefined;
  /** URL of the server with /healthz only; undefined with --healthz-port=0. */
  readonly healthUrl: string | undefined;
}

/**
 * Starts the agent. The steps in `undo` stop it, or what was started before an error. `changedLimits` are those that differ
 * from config/limits.yaml.
 */
export async function startAgent(
  dependencies: AgentDependencies,
  changedLimits: Partial<Limits> = {},
): Promise<RunningAgent> {
  const { options, clock, logger, undo } = dependencies;
  const limits = Object.assign(new Limits(), ownYaml('limits.yaml'), changedLimits);
  const startSeconds = clock.now() / 1_000;
  const metrics = new AgentMetrics(rootsOf(), options.nodeName);
  await removeInterruptedWritesOfAgent(dependencies);
  const client = await openApiClient(dependencies);
  if (client === undefined) logger.info('no --kubeconfig: the agent has no API server and registers no Node');
  const runtime = openRuntime(dependencies, metrics);
  const healthUrl = options.serving.healthzPort === 0 ? undefined : await startHealthServer(dependencies);
  const joinCluster = async (port: number) => {
    if (client)
      await startNode({ ...dependencies, client, port, runtime: runtime ? runtimeFacts(runtime) : noRuntime });
  };
  if (!options.serving.isEnabled) {
    await joinCluster(options.serving.port);
    return { url: undefined, healthUrl };
  }

  const { clientCaFile } = options.authentication;
  const clientCa = clientCaFile === undefined ? undefined : await liveCaBundle({ file: clientCaFile, clock, logger });
  undo.add(() => clientCa?.close());
  const tls = new TlsMaterial({
    serving: await openServingCertificate(dependencies, client),
    clientCas: clientCa ? [clientCa] : [],
    minVersion: options.serving.tlsMinVersion,
    cipherSuites: options.serving.tlsCipherSuites,
    logger,
  });
  undo.add(() => tls.close());
  const hostIp = await hostAddress(options);
  const pods = new NodePods({ runtime, client, nodeName: options.nodeName, hostIp, clock, logger });
  const archives = new CheckpointArchives(join(options.rootDirectory, 'checkpoints'), clock);
  const upstreams = new Upstreams({ clock });
  undo.add(() => upstreams.close());
  const listener = new AgentListener({
    authenticator: new AgentAuthenticator({ ...dependencies, limits, client, clientCa: () => tls.clientCaBundle() }),
    authorizer: await AgentAuthorizer.open({ ...dependencies, limits, client }),
    routes: agentRoutes({ options, clock, pods, runtime, archives, metrics, startSeconds, upstreams }),
    ...{ clock, logger },
    answered: (method, root, seconds) => metrics.answered(method, root, seconds),
  });
  if (admitsStrangers(options)) {
    logger.warn(
      'anyone who reaches the port may read logs, execute commands in containers and make checkpoints; set --anonymous-auth=false, or --authorization-mode=Webhook',
      { port: options.serving.port },
    );
  }
  const { url, port } = await startAgentServer({ ...dependencies, limits, tls, listener });
  await joinCluster(port);
  return { url, healthUrl };
}

/** True with the defaults of the kubelet's flags. */
const admitsStrangers = ({ authentication, authorization }: AgentOptions): boolean =>
  authentication.anonymous && authorization.mode === 'AlwaysAllow';

/** Returns the first address of the Node; undefined on a machine without a network. */
async function hostAddress({ nodeName, node }: AgentOptions): Promise<string | undefined> {
  const found = await nodeAddresses({ nodeName, hostname: nodeName, nodeIps: node.ips }).catch(() => []);
  return found.find(({ type }) => type === 'InternalIP')?.address;
}

function openRuntime(
  { options, clock, undo }: AgentDependencies,
  observer: AgentMetrics,
): ContainerRuntime | undefined {
  const { endpoint, imageEndpoint = endpoint, requestTimeoutMs } = options.runtime;
  if (endpoint === undefined || imageEndpoint === undefined) return undefined;
  const runtime = new ContainerRuntime({ endpoint, imageEndpoint, requestTimeoutMs, clock, observer });
  undo.add(() => runtime.close());
  return runtime;
}

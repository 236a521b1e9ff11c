import type { ContainerRuntime } from '../cri/container-runtime.js';
import { hasContainer, type NodePods } from '../pods/node-pods.js';
import { AgentError, type AgentRequest } from '../server/agent-request.js';
import { sendJson } from '../server/agent-response.js';
import type { Route } from '../server/routes.js';
import type { CheckpointArchives } from './checkpoint-archives.js';

interface Dependencies {
  readonly pods: NodePods;
  readonly runtime: ContainerRuntime | undefined;
  readonly archives: CheckpointArchives;
  /** --runtime-request-timeout */
  readonly defaultTimeoutMs: number;
}

/** Time of the runtime to answer after its own timeout. */
const graceMs = 1_000;
const secondsMax = 2 ** 31;

/** POST /checkpoint/{namespace}/{pod}/{container}, with the gate ContainerCheckpoint. */
export function checkpointRoutes(dependencies: Dependencies): readonly Route[] {
  return [
    {
      methods: ['POST'],
      path: '/checkpoint/{namespace}/{pod}/{container}',
      handle: (request) => checkpoint(dependencies, request),
    },
  ];
}

async function checkpoint(
  { pods, runtime, archives, defaultTimeoutMs }: Dependencies,
  { parameters, query, signal, response }: AgentRequest,
): Promise<void> {
  const [namespace, pod, container] = ['namespace', 'pod', 'container'].map((name) => parameters.get(name)!) as [
    string,
    string,
    string,
  ];
  const found = await pods.require(namespace, pod, signal);
  if (!hasContainer(found, container)) throw new AgentError(404, `container ${container} does not exist`);
  const seconds = timeoutOf(query);
  const failed = (reason: string, cause?: unknown) =>
    new AgentError(500, `checkpointing of ${namespace}/${pod}/${container} failed (${reason})`, { cause });
  if (seconds < 0) throw failed('the timeout must not be negative');
  const id = found.running?.containers.find(({ name }) => name === container)?.container.id;
  if (id === undefined || !runtime) throw failed(`container ${container} not found`);
  // As the kubelet: a shorter timeout than that of the runtime is not used.
  const timeoutMs = Math.max(seconds * 1_000, defaultTimeoutMs);
  try {
    const path = await archives.write(`${pod}_${namespace}-${container}`, async (location) => {
      const request = { containerId: id, location, timeout: Math.floor(timeoutMs / 1_000) };
      // Continues if the client leaves: the runtime would not notice, and the archive would be left half-written.
      await runtime.call('CheckpointContainer', request, { timeoutMs: timeoutMs + graceMs });
    });
    sendJson(response, { items: [path] });
  } catch (error) {
    throw failed(error instanceof Error ? error.message : String(error), error);
  }
}

/** Returns seconds; 0 for the default of the runtime. An answer of 404 is that of the kubelet. */
function timeoutOf(query: URLSearchParams): number {
  const text = query.getAll('timeout').at(-1);
  if (text === undefined || text === '') return 0;
  const seconds = /^[+-]?\d{1,18}$/.test(text) ? Number(text) : NaN;
  if (!Number.isFinite(seconds)) throw new AgentError(404, 'cannot parse value of timeout parameter');
  return Math.min(seconds, secondsMax);
}

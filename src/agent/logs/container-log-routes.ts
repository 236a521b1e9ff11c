import { goQuote } from '../../machinery/field-error.js';
import type { Clock } from '../../std/clock.js';
import type { ContainerRuntime } from '../cri/container-runtime.js';
import { containerStates } from '../cri/messages.js';
import { hasContainer, type NodePods } from '../pods/node-pods.js';
import { RuntimeView } from '../pods/runtime-view.js';
import { AgentError, type AgentRequest } from '../server/agent-request.js';
import type { Route } from '../server/routes.js';
import { logOptionsOf } from './log-options.js';
import { sendLog } from './send-log.js';

interface Dependencies {
  readonly pods: NodePods;
  readonly runtime: ContainerRuntime | undefined;
  readonly clock: Clock;
}

/** GET /containerLogs/{namespace}/{pod}/{container} */
export function containerLogRoutes({ pods, runtime, clock }: Dependencies): readonly Route[] {
  const view = runtime && new RuntimeView(runtime, clock);
  const handle = async ({ parameters, query, response, signal }: AgentRequest) => {
    const [namespace, pod, name] = [...parameters.values()] as [string, string, string];
    const options = logOptionsOf(query, clock.now());
    const found = await pods.require(namespace, pod, signal, undefined, `pod ${goQuote(pod)} does not exist`);
    if (!hasContainer(found, name)) {
      throw new AgentError(404, `container ${goQuote(name)} not found in pod ${goQuote(pod)}`);
    }
    const own = found.running?.containers.find((container) => container.name === name);
    const container = options.isPrevious ? own?.previous : own?.container;
    if (!container || !view) {
      const what = options.isPrevious
        ? `previous terminated container ${goQuote(name)} in pod ${goQuote(pod)} not found`
        : `container ${goQuote(name)} in pod ${goQuote(pod)} is waiting to start: ContainerCreating`;
      throw new AgentError(400, what);
    }
    try {
      const status = await view.container(container.id, signal);
      if (!status?.logPath) throw new Error(`the runtime keeps no log of container ${goQuote(name)}`);
      const isGrowing = async () => (await view.container(container.id, signal))?.state === containerStates.running;
      await sendLog({ path: status.logPath, isGrowing, clock }, options, response, signal);
    } catch (error) {
      throw new AgentError(400, error instanceof Error ? error.message : String(error), { cause: error });
    }
  };
  return [{ methods: ['GET'], path: '/containerLogs/{namespace}/{pod}/{container}', handle }];
}

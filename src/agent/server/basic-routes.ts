import { readFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import type { AgentOptions } from '../options/agent-options.js';
import { configurationOf } from '../options/shown-configuration.js';
import type { NodePods } from '../pods/node-pods.js';
import { AgentError, type AgentRequest } from './agent-request.js';
import { sendJson, sendText } from './agent-response.js';
import type { Route } from './routes.js';

interface Dependencies {
  readonly options: AgentOptions;
  readonly pods: NodePods;
}

/** /healthz, /pods, /runningpods/, /configz and /spec. */
export function basicRoutes({ options, pods }: Dependencies): readonly Route[] {
  const list = (isRunningOnly: boolean) => async (request: AgentRequest) => {
    const items = await pods.list(request.signal, isRunningOnly).catch((error: unknown) => {
      throw new AgentError(500, error instanceof Error ? error.message : String(error), { cause: error });
    });
    const shown = items.map(({ metadata, spec, status }) => ({ metadata, spec, status }));
    sendJson(request.response, { kind: 'PodList', apiVersion: 'v1', metadata: {}, items: shown });
  };
  const health = ({ response }: AgentRequest) => sendText(response, 200, 'ok');
  return [
    { methods: ['GET'], path: '/healthz', handle: health },
    { methods: ['GET'], path: '/healthz/{check}', handle: healthCheck },
    { methods: ['GET'], path: '/pods', handle: list(false) },
    ...(options.serving.hasDebuggingHandlers
      ? [{ methods: ['GET'], path: '/runningpods', handle: list(true) } as const]
      : []),
    {
      methods: ['GET'],
      path: '/configz',
      handle: ({ response }) => sendJson(response, { kubeletconfig: configurationOf(options) }),
    },
    { methods: ['GET'], path: '/spec', handle: ({ response }) => sendJson(response, machineInfo()) },
  ];
}

const checks: ReadonlySet<string> = new Set(['ping', 'log', 'syncloop']);

function healthCheck({ parameters, response }: AgentRequest): void {
  if (!checks.has(parameters.get('check')!)) throw new AgentError(404, '404 page not found\n');
  sendText(response, 200, 'ok');
}

/** The machine as /spec shows it, in the names of cAdvisor's MachineInfo. */
function machineInfo(): object {
  const cores = cpus();
  const read = (file: string) => {
    try {
      return readFileSync(file, 'utf8').trim();
    } catch {
      return '';
    }
  };
  return {
    num_cores: cores.length,
    cpu_frequency_khz: Math.round((cores[0]?.speed ?? 0) * 1_000),
    memory_capacity: totalmem(),
    machine_id: read('/etc/machine-id'),
    system_uuid: read('/sys/class/dmi/id/product_uuid'),
    boot_id: read('/proc/sys/kernel/random/boot_id'),
  };
}

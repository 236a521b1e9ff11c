import { availableParallelism, totalmem } from 'node:os';
import type { Clock } from '../../std/clock.js';
import type { ContainerRuntime } from '../cri/container-runtime.js';
import type { AgentOptions } from '../options/agent-options.js';
import type { AgentRequest } from '../server/agent-request.js';
import { sendJson, sendText } from '../server/agent-response.js';
import type { Route } from '../server/routes.js';
import { Machine } from '../stats/machine-usage.js';
import { NodeStats, type NodeUsage } from '../stats/node-stats.js';
import { summaryOf } from '../stats/stats-summary.js';
import { containerMetrics, resourceMetrics } from '../stats/usage-metrics.js';
import { startTime, type AgentMetrics } from './agent-metrics.js';

interface Dependencies {
  readonly metrics: AgentMetrics;
  readonly startSeconds: number;
  readonly options: AgentOptions;
  readonly runtime: ContainerRuntime | undefined;
  readonly clock: Clock;
}

const contentType = 'text/plain; version=0.0.4; charset=utf-8';

/** /metrics with its parts, and /stats/summary. Everything is measured when it is asked for. */
export function metricsRoutes({ metrics, startSeconds, options, runtime, clock }: Dependencies): readonly Route[] {
  const stats = new NodeStats({ runtime, machine: new Machine(options.rootDirectory, clock) });
  const text = (path: string, read: (usage: NodeUsage) => string): Route => ({
    methods: ['GET'],
    path,
    handle: async ({ response, signal }) => sendText(response, 200, read(await stats.read(signal)), contentType),
  });
  const fixed = (path: string, read: () => string): Route => ({
    methods: ['GET'],
    path,
    handle: ({ response }) => sendText(response, 200, read(), contentType),
  });
  const summary = async ({ response, query, signal }: AgentRequest) => {
    const cpuOnly = query.get('only_cpu_and_memory') === 'true';
    sendJson(response, summaryOf(await stats.read(signal), options.nodeName, cpuOnly));
  };
  return [
    fixed('/metrics', () => metrics.text(startSeconds)),
    // The agent runs no probes.
    fixed('/metrics/probes', () => `${startTime(startSeconds).join('\n')}\n`),
    text('/metrics/resource', resourceMetrics),
    text('/metrics/cadvisor', (usage) => containerMetrics(usage, availableParallelism(), totalmem())),
    { methods: ['GET'], path: '/stats', handle: summary },
    { methods: ['GET'], path: '/stats/summary', handle: summary },
  ];
}

import type { Clock } from '../../std/clock.js';
import type { CheckpointArchives } from '../checkpoint/checkpoint-archives.js';
import type { Upstreams } from '../../forwarding/upstreams.js';
import { containerLogRoutes } from '../logs/container-log-routes.js';
import { systemLogRoutes } from '../logs/system-log-routes.js';
import { streamRoutes } from '../streams/stream-routes.js';
import { checkpointRoutes } from '../checkpoint/checkpoint-routes.js';
import type { ContainerRuntime } from '../cri/container-runtime.js';
import type { AgentMetrics } from '../metrics/agent-metrics.js';
import { metricsRoutes } from '../metrics/metrics-routes.js';
import type { AgentOptions } from '../options/agent-options.js';
import type { NodePods } from '../pods/node-pods.js';
import { basicRoutes } from './basic-routes.js';
import type { Route } from './routes.js';
import { disabledRoutes } from './disabled-routes.js';

interface Dependencies {
  readonly options: AgentOptions;
  readonly clock: Clock;
  readonly pods: NodePods;
  readonly runtime: ContainerRuntime | undefined;
  readonly archives: CheckpointArchives;
  readonly metrics: AgentMetrics;
  readonly startSeconds: number;
  readonly upstreams: Upstreams;
}

/** Returns the paths that the agent serves with its options; all others are 404. */
export function agentRoutes(dependencies: Dependencies): readonly Route[] {
  const { options } = dependencies;
  const { serving } = options;
  const { hasDebuggingHandlers } = serving;
  const defaultTimeoutMs = options.runtime.requestTimeoutMs;
  return [
    ...basicRoutes(dependencies),
    ...metricsRoutes(dependencies),
    ...(hasDebuggingHandlers
      ? [
          ...containerLogRoutes(dependencies),
          ...streamRoutes({ ...dependencies, idleTimeoutMs: serving.streamIdleTimeoutMs }),
          ...(serving.hasSystemLogs ? systemLogRoutes(serving.logDirectory) : disabledRoutes(['/logs'])),
        ]
      : disabledRoutes(debuggingPaths)),
    ...(options.featureGates['ContainerCheckpoint'] === true
      ? checkpointRoutes({ ...dependencies, defaultTimeoutMs })
      : []),
  ];
}

const debuggingPaths = ['/run', '/exec', '/attach', '/portForward', '/containerLogs', '/runningpods', '/logs'];

const roots =
  'attach checkpoint configz containerLogs exec healthz logs metrics pods portForward run runningpods spec stats';

/** Returns the first steps of all paths, for labels of metrics. */
export const rootsOf = (): ReadonlySet<string> => new Set(roots.split(' '));

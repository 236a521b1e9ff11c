import { sendFinished } from '../answers/answer.js';
import type { FlowSchema, PriorityLevelConfiguration } from '../catalog/types/flowcontrol.v1.js';
import type { ServerConfig } from '../config/server-config.js';
import { FlowControl } from '../flow/flow-control.js';
import type { TurnScheduler } from '../flow/dispatch-turns.js';
import { followFlowObjects } from '../flow/flow-objects.js';
import { objectStats } from '../flow/object-stats.js';
import { apiVersionOf } from '../machinery/gvk.js';
import { mandatoryFlowSchemas, mandatoryPriorityLevels } from '../modules/flowcontrol/mandatory-objects.js';
import { flowcontrolVersion } from '../modules/flowcontrol/flowcontrol.resources.js';
import type { ResourceRegistry } from '../registry/resource-registry.js';
import type { Clock } from '../std/clock.js';
import type { TimerWheel } from '../std/timer-wheel.js';

const eventLoopTurns: TurnScheduler = {
  afterReading: (task) => void setImmediate(task),
  afterContinuations: (task) => queueMicrotask(() => process.nextTick(task)),
  sendFinished,
};

interface Dependencies {
  readonly config: ServerConfig;
  readonly registry: ResourceRegistry;
  readonly clock: Clock;
  readonly wheel: TimerWheel;
}

/** Returns the flow control of all requests; undefined with --enable-priority-and-fairness=false. */
export function makeFlowControl({ config, registry, clock, wheel }: Dependencies): FlowControl | undefined {
  const { flow, naming, featureGates } = config;
  if (!flow.priorityAndFairness) return undefined;
  const { group, version } = flowcontrolVersion(naming);
  const apiVersion = apiVersionOf(group, version);
  const schemas = Object.entries(mandatoryFlowSchemas).map(([name, spec]): FlowSchema => ({
    kind: 'FlowSchema',
    apiVersion,
    metadata: { name },
    spec,
  }));
  const levels = Object.entries(mandatoryPriorityLevels).map(([name, spec]): PriorityLevelConfiguration => ({
    kind: 'PriorityLevelConfiguration',
    apiVersion,
    metadata: { name },
    spec,
  }));
  const control = new FlowControl({
    clock,
    wheel,
    turns: eventLoopTurns,
    seats: flow.requestsInFlightMax + flow.mutatingRequestsInFlightMax,
    mandatory: { schemas, levels },
    statsOf: objectStats(registry, clock),
    watchListEnabled: featureGates['WatchList'] === true,
    sizeBasedEstimates: featureGates['SizeBasedListCostEstimate'] === true,
  });
  followFlowObjects(registry, group, control);
  return control;
}

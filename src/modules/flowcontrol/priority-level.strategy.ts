import type { PriorityLevelConfiguration } from '../../catalog/types/flowcontrol.v1.js';
import type { Mutable } from '../../machinery/mutable.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateConditions } from './flow-schema.validation.js';
import { validatePriorityLevel } from './priority-level.validation.js';

/** A PriorityLevelConfiguration limits the concurrency of requests and configures their queues. */
export const priorityLevelStrategy: Strategy<PriorityLevelConfiguration> = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  default: defaultPriorityLevel,
  validateCreate: (level) => [...validatePriorityLevel(level), ...validateConditions(level)],
  validateUpdate: (level) => [...validatePriorityLevel(level), ...validateConditions(level)],
};

function defaultPriorityLevel(level: Mutable<PriorityLevelConfiguration>): void {
  const { exempt, limited } = (level.spec ??= {});
  if (exempt) {
    exempt.nominalConcurrencyShares ??= 0;
    exempt.lendablePercent ??= 0;
  }
  if (limited) {
    // An explicit 0 stays: the level then has no seats of its own.
    limited.nominalConcurrencyShares ??= 30;
    limited.lendablePercent ??= 0;
    const { queuing } = (limited.limitResponse ??= {});
    if (queuing) {
      queuing.queues ||= 64;
      queuing.handSize ||= 8;
      queuing.queueLengthLimit ||= 50;
    }
  }
  level.status ??= {};
}

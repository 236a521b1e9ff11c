import { asFields, fillIn, fillInZero, isSet, makeFields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateConditions } from './flow-schema.validation.js';
import { validatePriorityLevel } from './priority-level.validation.js';

/** How much of the server's concurrency a kind of requests gets, and where they wait for it. */
export const priorityLevelStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  default: fillPriorityLevel,
  prepareForCreate(level) {
    level['status'] = {};
  },
  prepareForUpdate(level, old) {
    level['status'] = old['status'];
  },
  validateCreate: (level) => [...validatePriorityLevel(level), ...validateConditions(level)],
  validateUpdate: (level) => [...validatePriorityLevel(level), ...validateConditions(level)],
};

function fillPriorityLevel(level: KubeObject): void {
  const spec = makeFields(level, 'spec');
  if (isSet(spec['exempt'])) {
    const exempt = asFields(spec['exempt']);
    fillIn(exempt, 'nominalConcurrencyShares', 0);
    fillIn(exempt, 'lendablePercent', 0);
  }
  if (isSet(spec['limited'])) {
    const limited = asFields(spec['limited']);
    // An explicit 0 stays: such a level runs nothing of its own.
    fillIn(limited, 'nominalConcurrencyShares', 30);
    fillIn(limited, 'lendablePercent', 0);
    const response = makeFields(limited, 'limitResponse');
    if (isSet(response['queuing'])) {
      const queuing = asFields(response['queuing']);
      fillInZero(queuing, 'queues', 64);
      fillInZero(queuing, 'handSize', 8);
      fillInZero(queuing, 'queueLengthLimit', 50);
    }
  }
  makeFields(level, 'status');
}

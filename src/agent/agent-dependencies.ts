import type { Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import type { Rng } from '../std/rng.js';
import type { AgentOptions } from './options/agent-options.js';

/** Dependencies of every part of the agent. */
export interface AgentDependencies {
  readonly options: AgentOptions;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly logger: Logger;
  /** Steps that stop the agent, of which the last runs first. */
  readonly undo: { add(step: () => Promise<void> | void): void };
}

import type { Flag, FlagTopic } from '../flag.js';
import { auditFlags } from './audit.js';
import { authenticationFlags } from './authentication.js';
import { authorizationFlags } from './authorization.js';
import { clusterFlags, ownFlags } from './cluster.js';
import { controllerFlags } from './controllers.js';
import { admissionFlags, egressFlags, enablementFlags, featureFlags } from './features.js';
import { genericFlags } from './generic.js';
import { logFlags, metricsFlags, traceFlags } from './observability.js';
import { servingFlags } from './serving.js';
import { storageFlags } from './storage.js';

/** Topics in the order of the help. */
export const flagTopics: readonly FlagTopic[] = [
  ownFlags,
  storageFlags,
  servingFlags,
  authenticationFlags,
  authorizationFlags,
  clusterFlags,
  controllerFlags,
  admissionFlags,
  enablementFlags,
  genericFlags,
  featureFlags,
  logFlags,
  metricsFlags,
  traceFlags,
  auditFlags,
  egressFlags,
];

export const flagsByName: ReadonlyMap<string, Flag> = new Map(
  flagTopics.flatMap((topic) => topic.flags.map((flag) => [flag.name, flag] as const)),
);

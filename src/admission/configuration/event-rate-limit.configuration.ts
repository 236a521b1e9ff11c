import type { NamingProfile } from '../../config/naming-profile.js';
import type { ConfigReader } from './config-reader.js';

/** Scope of a limit: it applies to the whole server, or to each namespace, user, or source and object by itself. */
export const eventLimitTypes = ['Server', 'Namespace', 'User', 'SourceAndObject'] as const;
export type EventLimitType = (typeof eventLimitTypes)[number];

export interface EventLimit {
  readonly type: EventLimitType;
  readonly perSecond: number;
  readonly burst: number;
  /** Limit on the namespaces, users or sources that have a bucket at the same time. */
  readonly bucketsMax: number;
}

const defaultBucketsMax = 4096;

export function readEventLimits(config: ConfigReader, naming: NamingProfile): readonly EventLimit[] {
  if (!config.hasKind('Configuration', [`${naming.group('eventratelimit.admission')}/v1alpha1`])) return [];
  return config
    .allowOnly('apiVersion', 'kind', 'limits')
    .mappings('limits')
    .map((limit) => {
      limit.allowOnly('type', 'qps', 'burst', 'cacheSize');
      const type = eventLimitTypes.find((known) => known === limit.string('type'));
      if (!type) limit.addProblem('type', `must be one of ${eventLimitTypes.join(', ')}`);
      const perSecond = limit.count('qps') ?? 0;
      const burst = limit.count('burst') ?? 0;
      if (perSecond === 0) limit.addProblem('qps', 'must be more than zero');
      if (burst === 0) limit.addProblem('burst', 'must be more than zero');
      const bucketsMax = limit.count('cacheSize') || defaultBucketsMax;
      return { type: type ?? 'Server', perSecond, burst, bucketsMax };
    });
}

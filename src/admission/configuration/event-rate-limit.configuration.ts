import type { NamingProfile } from '../../config/naming-profile.js';
import type { ConfigReader } from '../../machinery/config-reader.js';

/** Scope of a limit: it applies to the whole server, or to each namespace, user, or source and object by itself. */
const eventLimitTypes = ['Server', 'Namespace', 'User', 'SourceAndObject'] as const;
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
      return {
        type: limit.requiredOneOf('type', eventLimitTypes) ?? 'Server',
        perSecond: limit.requiredCount('qps') ?? 0,
        burst: limit.requiredCount('burst') ?? 0,
        bucketsMax: limit.count('cacheSize') || defaultBucketsMax,
      };
    });
}

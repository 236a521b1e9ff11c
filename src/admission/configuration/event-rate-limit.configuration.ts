import type { NamingProfile } from '../../config/naming-profile.js';
import type { ConfigReader } from './config-reader.js';

/** Of what each limit counts the events by itself. */
export const eventLimitTypes = ['Server', 'Namespace', 'User', 'SourceAndObject'] as const;
export type EventLimitType = (typeof eventLimitTypes)[number];

export interface EventLimit {
  readonly type: EventLimitType;
  readonly perSecond: number;
  readonly burst: number;
  /** How many namespaces, users or sources are told apart at a time. */
  readonly bucketsMax: number;
}

const bucketsByDefault = 4096;

export function readEventLimits(config: ConfigReader, naming: NamingProfile): readonly EventLimit[] {
  if (!config.is('Configuration', [`${naming.group('eventratelimit.admission')}/v1alpha1`])) return [];
  return config
    .only('apiVersion', 'kind', 'limits')
    .parts('limits')
    .map((limit) => {
      limit.only('type', 'qps', 'burst', 'cacheSize');
      const type = eventLimitTypes.find((known) => known === limit.text('type'));
      if (!type) limit.refuse('type', `must be one of ${eventLimitTypes.join(', ')}`);
      const perSecond = limit.count('qps') ?? 0;
      const burst = limit.count('burst') ?? 0;
      if (perSecond === 0) limit.refuse('qps', 'must be more than zero');
      if (burst === 0) limit.refuse('burst', 'must be more than zero');
      const bucketsMax = limit.count('cacheSize') || bucketsByDefault;
      return { type: type ?? 'Server', perSecond, burst, bucketsMax };
    });
}

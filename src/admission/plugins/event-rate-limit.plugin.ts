import type { Event } from '../../catalog/types/core.v1.js';
import { ApiError } from '../../machinery/api-error.js';
import { defineAdmissionPlugin, type AdmissionAttributes } from '../admission-plugin.js';
import type { EventLimitType } from '../configuration/event-rate-limit.configuration.js';
import { isAbout } from '../matching.js';
import { TokenBuckets } from '../token-buckets.js';

/** Returns the key of the bucket that each type of limit takes a token from. */
const keys: Readonly<Record<EventLimitType, (attributes: AdmissionAttributes) => string>> = {
  Server: () => '',
  Namespace: ({ namespace }) => namespace,
  User: ({ request }) => request.user.name,
  SourceAndObject: ({ object }) => sourceAndObject(object),
};

/** Refuses Events beyond the rates in the configuration with 429. */
export const eventRateLimit = defineAdmissionPlugin({
  name: 'EventRateLimit',
  runs: 'if enabled',
  make({ clock, naming, configuration }) {
    const limits = configuration.eventLimits.map(({ type, ...bounds }) => ({
      keyOf: keys[type],
      buckets: new TokenBuckets({ clock, ...bounds }),
    }));
    const groups = ['', naming.group('events')];
    return {
      resources: groups.map((group) => ({ group, resource: 'events' })),
      validate(attributes) {
        if (!groups.some((group) => isAbout(attributes, group, 'events', ['CREATE', 'UPDATE']))) return;
        // Every limit counts the Event, even if another one refuses it.
        const taken = limits.map(({ keyOf, buckets }) => buckets.take(keyOf(attributes)));
        if (taken.every(Boolean)) return;
        throw ApiError.tooManyRequests('limit reached on type of events', 1);
      },
    };
  },
});

function sourceAndObject(event: Event | undefined): string {
  const { component = '', host = '' } = event?.source ?? {};
  const { kind = '', namespace = '', name = '', uid = '', apiVersion = '' } = event?.involvedObject ?? {};
  return [component, host, kind, namespace, name, uid, apiVersion].join('\n');
}

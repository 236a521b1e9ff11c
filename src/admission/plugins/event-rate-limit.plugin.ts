import type { NamingProfile } from '../../config/naming-profile.js';
import { ApiError } from '../../machinery/api-error.js';
import { asFields, asText } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { Clock } from '../../std/clock.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission-plugin.js';
import type { EventLimit, EventLimitType } from '../configuration/event-rate-limit.configuration.js';
import { isAbout } from '../matching.js';
import { TokenBuckets } from '../token-buckets.js';

/** Of whom each limit counts the events. */
const keys: Readonly<Record<EventLimitType, (attributes: AdmissionAttributes) => string>> = {
  Server: () => '',
  Namespace: ({ namespace }) => namespace,
  User: ({ request }) => request.user.name,
  SourceAndObject: ({ object }) => sourceAndObject(object),
};

interface Parts {
  readonly clock: Clock;
  readonly naming: NamingProfile;
  readonly configuration: { readonly eventLimits: readonly EventLimit[] };
}

/** Events are cheap to make, and many: whoever makes more than the configuration allows is told to wait. */
export function eventRateLimit({ clock, naming, configuration }: Parts): AdmissionPlugin {
  const limits = configuration.eventLimits.map(({ type, ...bounds }) => ({
    keyOf: keys[type],
    buckets: new TokenBuckets({ clock, ...bounds }),
  }));
  const groups = ['', naming.group('events')];
  return {
    name: 'EventRateLimit',
    validate(attributes) {
      if (!groups.some((group) => isAbout(attributes, group, 'events', ['CREATE', 'UPDATE']))) return;
      // Every limit counts the event, also one that another limit refuses.
      const taken = limits.map(({ keyOf, buckets }) => buckets.take(keyOf(attributes)));
      if (taken.every(Boolean)) return;
      throw ApiError.tooManyRequests('limit reached on type of events', 1);
    },
  };
}

function sourceAndObject(event: KubeObject | undefined): string {
  const source = asFields(event?.['source']);
  const involved = asFields(event?.['involvedObject']);
  return [
    ...['component', 'host'].map((field) => asText(source[field])),
    ...['kind', 'namespace', 'name', 'uid', 'apiVersion'].map((field) => asText(involved[field])),
  ].join('\n');
}

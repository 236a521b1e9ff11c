import { objectTime } from '../registry/write/system-fields.js';
import type { ReconcilerDependencies } from './reconciler.js';

/** An Event about an object. Events about cluster-scoped objects are in the namespace `default`. */
interface RecordedEvent {
  readonly about: {
    readonly kind: string;
    readonly apiVersion: string;
    readonly namespace?: string | undefined;
    readonly name: string;
    readonly uid?: string | undefined;
  };
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  /** The component in `source`, as in kube-controller-manager. */
  readonly component: string;
}

/** Leaves room for the suffix in a name of 253 characters. */
const nameLengthMax = 230;

/** Writes an Event. Failures are only logged: an Event is no reason to repeat the work that it tells of. */
export async function recordEvent(
  { registry, client, clock, rng, logger, name: reconciler }: ReconcilerDependencies,
  { about, type, reason, message, component }: RecordedEvent,
  signal?: AbortSignal,
): Promise<void> {
  const time = objectTime(clock.now());
  const suffix = (BigInt(Math.trunc(clock.now())) * 1_000_000n + BigInt(rng.below(1_000_000))).toString(16);
  const namespace = about.namespace ?? 'default';
  try {
    await client.create(
      registry.require('', 'v1', 'events'),
      {
        kind: 'Event',
        apiVersion: 'v1',
        metadata: { name: `${about.name.slice(0, nameLengthMax)}.${suffix}`, namespace },
        involvedObject: about,
        type,
        reason,
        message,
        source: { component },
        firstTimestamp: time,
        lastTimestamp: time,
        count: 1,
      },
      signal,
    );
  } catch (error) {
    logger.debug('an Event could not be written', { reconciler, reason, about: about.name, error });
  }
}

import type { EncodedObject } from '../../cache/encoded-object.js';
import { findStored } from '../find-stored.js';
import { followNames } from '../follow.js';
import type { Reconciler, ReconcilerParts } from '../reconciler.js';
import { deletionTimeMs } from './decide.js';

/** Timers hold no more than about 24 days; a Job that lives longer is looked at again. */
const waitMsMax = 24 * 3_600_000;
const workersMax = 4;

/** Deletes finished Jobs and their Pods when spec.ttlSecondsAfterFinished has passed. */
export const ttlAfterFinished: Reconciler = {
  name: 'ttl-after-finished-controller',
  yieldsToUpstream: true,
  start(parts: ReconcilerParts) {
    const { registry, client, clock } = parts;
    const jobs = findStored(registry, 'batch', 'v1', 'jobs');
    if (!jobs) return { stop: async () => undefined };
    const { store } = jobs;
    const timeOf = (job: EncodedObject | undefined) =>
      job && !job.corruption ? deletionTimeMs(job.parse()) : undefined;
    const queue = parts.queue(
      'ttl_jobs_to_delete',
      async (key, signal) => {
        const [namespace = '', name = ''] = key.split('/');
        const place = { served: jobs, namespace, name };
        const cached = timeOf(store.cache.get(store.keyOf(namespace, name)));
        if (cached === undefined) return;
        const leftMs = cached - clock.now();
        if (leftMs > 0) return { againInMs: Math.min(leftMs, waitMsMax) };
        // The time to live may have been changed since.
        const job = await client.live(place, signal);
        const dueMs = job && deletionTimeMs(job);
        if (!job || dueMs === undefined) return;
        if (dueMs > clock.now()) return { againInMs: Math.min(dueMs - clock.now(), waitMsMax) };
        const { uid, resourceVersion } = job.metadata;
        const preconditions = { uid, resourceVersion };
        await client.delete(place, { preconditions, propagationPolicy: 'Foreground' }, signal);
      },
      { workersMax },
    );
    const end = followNames(jobs, (namespace, name) => queue.add(`${namespace}/${name}`));
    return {
      async stop() {
        end();
        await queue.stop();
      },
    };
  },
};

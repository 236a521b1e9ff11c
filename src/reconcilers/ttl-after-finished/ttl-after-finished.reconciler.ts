import type { EncodedObject } from '../../cache/encoded-object.js';
import { findStored } from '../find-stored.js';
import { followNames } from '../follow.js';
import { defineReconciler, idle, type ReconcilerDependencies } from '../reconciler.js';
import { deletionTimeMs } from './decide.js';

const workersMax = 4;

/** Deletes finished Jobs and their Pods when spec.ttlSecondsAfterFinished has passed. */
export const ttlAfterFinished = defineReconciler({
  name: 'ttl-after-finished-controller',
  runs: 'by default',
  runsOn: 'leader',
  role: 'ttl-after-finished-controller',
  yieldsToUpstream: true,
  start(dependencies: ReconcilerDependencies) {
    const { registry, client, clock } = dependencies;
    const jobs = findStored(registry, 'batch', 'v1', 'jobs');
    if (!jobs) return idle;
    const { store } = jobs;
    const timeOf = (job: EncodedObject | undefined) =>
      job && !job.corruption ? deletionTimeMs(job.parse()) : undefined;
    const queue = dependencies.queue(
      'ttl_jobs_to_delete',
      async (key, signal) => {
        const [namespace = '', name = ''] = key.split('/');
        const ref = { served: jobs, namespace, name };
        const cached = timeOf(store.cache.get(store.keyOf(namespace, name)));
        if (cached === undefined) return;
        const leftMs = cached - clock.now();
        if (leftMs > 0) return { againInMs: leftMs };
        // The cached time to live may be out of date.
        const job = await client.live(ref, signal);
        const dueMs = job && deletionTimeMs(job);
        if (!job || dueMs === undefined) return;
        if (dueMs > clock.now()) return { againInMs: dueMs - clock.now() };
        const { uid, resourceVersion } = job.metadata;
        const preconditions = { uid, resourceVersion };
        await client.delete(ref, { preconditions, propagationPolicy: 'Foreground' }, signal);
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
});

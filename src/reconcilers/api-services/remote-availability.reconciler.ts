import type { Aggregation } from '../../aggregation/aggregation.js';
import { RemoteCallError } from '../../aggregation/remote-client.js';
import { remoteVersionOf, type RemoteVersion } from '../../aggregation/remote-version.js';
import type { APIService } from '../../catalog/types/apiregistration.v1.js';
import type { Service } from '../../catalog/types/core.v1.js';
import type { EndpointSlice } from '../../catalog/types/discovery.v1.js';
import { apiregistrationVersion } from '../../modules/apiregistration/apiregistration.resources.js';
import { objectTime } from '../../registry/write/system-fields.js';
import type { ServedResource } from '../../registry/resource-registry.js';
import { findStored } from '../find-stored.js';
import { followNames } from '../follow.js';
import { defineReconciler, idle } from '../reconciler.js';
import { conditionsWith, failedDiscovery, local, passed, serviceProblem, type Verdict } from './availability.js';

/** The network can change without an event of an object. */
const recheckMs = 30_000;
const retryMsMin = 500;
/** Requests that cannot be forwarded lead to a check at once, but not more often. */
const suspicionMsMin = 2_000;
/** Calls after a failed one, at the same time: one of several endpoints may be broken. */
const furtherCalls = 4;
/** After this time a condition that another server has replaced is written again. */
const overruledMs = 600_000;

/** Sets the condition Available of APIServices: True if the server behind the Service answers discovery requests. */
export const remoteAvailability = defineReconciler({
  name: 'apiservice-remote-availability',
  runs: 'always',
  runsOn: 'every server',
  start({ config, registry, client, clock, aggregation, queue: makeQueue }) {
    const { naming } = config;
    const { group, version } = apiregistrationVersion(naming);
    const served = findStored(registry, group, version, 'apiservices');
    const services = findStored(registry, '', 'v1', 'services');
    const slices = findStored(registry, naming.group('discovery'), 'v1', 'endpointslices');
    if (!served || !services) return idle;
    const serviceLabel = naming.label('service-name');
    const written = new Map<string, { readonly uid: string; readonly verdict: string; readonly atMs: number }>();
    const failures = new Map<string, number>();
    const checkedAtMs = new Map<string, number>();

    const check = async (remote: RemoteVersion, signal: AbortSignal): Promise<Verdict> => {
      const { namespace, name } = remote.service;
      const found: Service | undefined = cached(services, namespace, name);
      const ofService = slices ? slicesOf(slices, namespace, serviceLabel, name) : [];
      return serviceProblem(remote, found, ofService) ?? (await discoveryCheck(aggregation, remote, signal));
    };

    const forget = (name: string) => {
      aggregation.unavailable.forget(name);
      written.delete(name);
      failures.delete(name);
      checkedAtMs.delete(name);
    };

    const queue = makeQueue('apiservice_remote_availability', async (name, signal) => {
      const ref = { served, namespace: '', name };
      const current: APIService | undefined = cached(served, '', name);
      if (!current) return forget(name);
      const remote = remoteVersionOf(current);
      checkedAtMs.set(name, clock.monotonicMs());
      const verdict = remote ? await check(remote, signal) : local;
      signal.throwIfAborted();
      const wasAvailable = remote?.isAvailable ?? true;
      const isAvailable = verdict.status === 'True';
      aggregation.unavailable.set(name, isAvailable, verdict.reason, wasAvailable);
      const now = objectTime(clock.now());
      if (conditionsWith(current, verdict, now) !== current.status?.conditions) {
        // Another server that reaches other endpoints may have set its condition: two servers must not overwrite each
        // other for ever.
        const own = `${verdict.status} ${verdict.reason}`;
        const uid = current.metadata.uid ?? '';
        const last = written.get(name);
        const isOverruled = last?.uid === uid && last.verdict === own && clock.monotonicMs() - last.atMs < overruledMs;
        if (!isOverruled) {
          const change = (service: APIService) => ({
            ...service,
            status: { ...service.status, conditions: conditionsWith(service, verdict, now) },
          });
          await client.change(ref, change, { subresource: 'status', preconditions: { uid }, signal });
          written.set(name, { uid, verdict: own, atMs: clock.monotonicMs() });
        }
      }
      if (!remote) return;
      if (isAvailable) failures.delete(name);
      const failed = isAvailable ? 0 : (failures.get(name) ?? 0) + 1;
      if (failed > 0) failures.set(name, failed);
      return { againInMs: failed === 0 ? recheckMs : Math.min(recheckMs, retryMsMin * 2 ** Math.min(failed, 10)) };
    });

    /** Checks the APIServices of a Service at once. */
    const changed = (namespace: string, name: string) => {
      for (const remote of aggregation.versions.list()) {
        if (remote.service.namespace !== namespace || remote.service.name !== name) continue;
        failures.delete(remote.name);
        queue.add(remote.name);
      }
    };
    const ends = [
      followNames(served, (_, name) => queue.add(name)),
      followNames(services, changed),
      aggregation.versions.onFailure((name) => {
        const atMs = checkedAtMs.get(name) ?? 0;
        queue.addAfter(name, Math.max(0, atMs + suspicionMsMin - clock.monotonicMs()));
      }),
      ...(slices ? [followSlices(slices, serviceLabel, changed)] : []),
    ];
    return {
      async stop() {
        for (const end of ends) end();
        await queue.stop();
      },
    };
  },
});

async function discoveryCheck({ client }: Aggregation, remote: RemoteVersion, signal: AbortSignal): Promise<Verdict> {
  const path = `/apis/${remote.group}/${remote.version}`;
  const call = async (): Promise<void> => {
    const { status, url } = await client.get(remote, { path, accept: 'application/json' }, signal);
    if (status < 200 || status >= 300) throw new RemoteCallError(url, `bad status from ${url}: ${status}`);
  };
  try {
    await call().catch(() => Promise.any(Array.from({ length: furtherCalls }, call)));
    return passed;
  } catch (error) {
    return failedDiscovery(messageOf(error instanceof AggregateError ? error.errors[0] : error));
  }
}

function messageOf(error: unknown): string {
  if (error instanceof RemoteCallError) return `failing or missing response from ${error.url}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

function cached<T>({ store }: ServedResource, namespace: string, name: string): T | undefined {
  const found = store.cache.get(store.keyOf(namespace, name));
  return found && !found.corruption ? (found.parse() as T) : undefined;
}

function slicesOf({ store }: ServedResource, namespace: string, label: string, service: string): EndpointSlice[] {
  const found: EndpointSlice[] = [];
  for (const entry of store.cache.snapshot().range(store.scopeOf(namespace))) {
    if (entry.corruption || entry.attributes.labels?.[label] !== service) continue;
    found.push(entry.parse());
  }
  return found;
}

/** Calls `changed` with namespace and name of the Service of each EndpointSlice, now and after changes. */
function followSlices(
  { store }: ServedResource,
  label: string,
  changed: (namespace: string, name: string) => void,
): () => void {
  const tell = (attributes: {
    readonly namespace: string;
    readonly labels?: Readonly<Record<string, string>> | undefined;
  }) => {
    const name = attributes.labels?.[label];
    if (name !== undefined) changed(attributes.namespace, name);
  };
  return store.cache.observe({
    changed({ current, previous }) {
      if (current && !current.corruption) tell(current.attributes);
      if (previous && !previous.corruption) tell(previous.attributes);
    },
    reset() {
      for (const entry of store.cache.snapshot().range(store.scopeOf('')))
        if (!entry.corruption) tell(entry.attributes);
    },
  });
}

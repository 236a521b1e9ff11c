import { DocumentReader, type ReadDocument } from '../../aggregation/read-documents.js';
import type { RemoteSwagger } from '../../aggregation/remote-documents.js';
import type { RemoteResource } from '../../aggregation/remote-discovery.js';
import { openApiV2Problem } from '../../openapi/merge-swagger.js';
import { defineReconciler } from '../reconciler.js';

/** As in kube-apiserver. */
const refreshMs = 60_000;
const retryMsMin = 500;
const workersMax = 8;

/** The documents of an APIService as they were read last, to which the next answers are compared. */
interface LastRead {
  readonly uid: string;
  discovery?: ReadDocument<readonly RemoteResource[]>;
  swagger?: ReadDocument<RemoteSwagger | undefined>;
  failures: number;
}

/** Reads discovery and OpenAPI of aggregated servers, which this server merges with its own. */
export const remoteDocuments = defineReconciler({
  name: 'apiservice-remote-documents',
  runs: 'always',
  runsOn: 'every server',
  start({ config, aggregation, clock, logger, queue: makeQueue }) {
    const { versions, documents, client, targets } = aggregation;
    const { naming, limits } = config;
    const reader = new DocumentReader({ client, clock, limits, discoveryGroup: naming.group('apidiscovery') });
    const read = new Map<string, LastRead>();

    const work = async (name: string, signal: AbortSignal) => {
      const version = versions.named(name);
      if (!version) {
        read.delete(name);
        targets.forget(name);
        documents.forget(name);
        return;
      }
      let last = read.get(name);
      if (last?.uid !== version.uid) read.set(name, (last = { uid: version.uid, failures: 0 }));
      // An event of its condition comes when it is available again.
      if (!version.isAvailable) return documents.setDiscovery(name, { resources: [], isCurrent: false });
      let failure: string | undefined;
      try {
        last.discovery = await reader.discovery(version, last.discovery, signal);
        documents.setDiscovery(name, { resources: last.discovery.value, isCurrent: true });
      } catch (error) {
        failure = messageOf(error);
        documents.setDiscovery(name, { resources: [], isCurrent: false });
      }
      try {
        const v3Hash = await reader.openApiV3Hash(version, signal);
        const before = last.swagger;
        const swagger = await reader.openApiV2(version, before, signal);
        const isNew = swagger.value !== undefined && swagger.value !== before?.value;
        const problem = isNew ? await openApiV2Problem(swagger.value, clock) : undefined;
        last.swagger = problem === undefined ? swagger : { ...swagger, value: undefined };
        documents.setOpenApi(name, { v3Hash, v2: last.swagger.value });
        if (problem !== undefined) throw new Error(`its OpenAPI v2 is not merged: ${problem}`);
      } catch (error) {
        failure ??= messageOf(error);
      }
      signal.throwIfAborted();
      if (failure === undefined) {
        last.failures = 0;
        return { againInMs: refreshMs };
      }
      if (last.failures === 0) {
        logger.warn('the discovery or OpenAPI of an aggregated API server could not be read; it is read again', {
          apiService: name,
          error: failure,
        });
      }
      return { againInMs: Math.min(refreshMs, retryMsMin * 2 ** Math.min(last.failures++, 10)) };
    };

    const queue = makeQueue('apiservice_remote_documents', work, { workersMax });
    const end = versions.onChange((name) => queue.add(name));
    for (const { name } of versions.list()) queue.add(name);
    return {
      async stop() {
        end();
        await queue.stop();
      },
    };
  },
});

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

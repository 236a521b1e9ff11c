import { hostname } from 'node:os';
import type { Pki } from '../certificates/pki.js';
import type { LiveRootCa } from '../certificates/root-ca.js';
import { healthEndpoints } from '../endpoints/health-checks.js';
import { reconcilerChecks } from '../endpoints/health-standard-checks.js';
import { remoteAvailability } from '../reconcilers/api-services/remote-availability.reconciler.js';
import { remoteDocuments } from '../reconcilers/api-services/remote-documents.reconciler.js';
import { ReconcilerRunner } from '../reconcilers/reconciler-runner.js';
import { tokenTrackingDay } from '../reconcilers/token-tracking/token-tracking.reconciler.js';
import { noUpstream } from '../reconcilers/upstream-presence.js';
import type { WorkerSeams } from '../workers/server-processes.js';
import type { ServerComponents } from './components.js';
import { clientTrustOf, type ServerTls } from './tls.js';
import type { UndoSteps } from './undo-steps.js';

interface WorkerControlOptions {
  readonly pki: Pki;
  readonly tls: ServerTls;
  readonly rootCa: LiveRootCa;
  readonly port: number;
  readonly worker: WorkerSeams;
}

/** Reconcilers whose results, or whose input, are in the memory of each process. All others run beside the store. */
const ofEachProcess = [remoteAvailability, remoteDocuments, tokenTrackingDay];

/** Starts the reconcilers of a worker, and adds the checks of the process with the store to its own. */
export async function startWorkerControl(
  components: ServerComponents,
  { pki, tls, rootCa, port, worker }: WorkerControlOptions,
  undo: UndoSteps,
): Promise<void> {
  const { phase, health, config } = components;
  phase.isBootstrapped = true;
  const running = new Set(worker.reconcilers);
  health.add(...reconcilerChecks((name) => running.has(name)));
  for (const endpoint of healthEndpoints)
    health.add({ name: 'store-process', endpoints: [endpoint], check: storeProcess(worker, endpoint) });
  const clientTrust = clientTrustOf(config, tls);
  const server = { hostName: hostname(), port, rootCa, clientTrust, issuer: () => pki.issuer() };
  const runner = new ReconcilerRunner(
    {
      ...components,
      ...{ server, upstream: noUpstream, storeIsShared: false },
      measure: components.workQueueMetrics.measure,
    },
    ofEachProcess,
  );
  undo.add(() => runner.stop());
  await runner.start();
}

/** Returns a check that fails with those of the process with the store. Concurrent probes share one call. */
function storeProcess(worker: WorkerSeams, endpoint: string): () => Promise<void> {
  let pending: Promise<readonly string[]> | undefined;
  return async () => {
    pending ??= worker.failedChecks(endpoint).finally(() => (pending = undefined));
    const failed = await pending;
    if (failed.length > 0) throw new Error(`failed checks: ${failed.join(', ')}`);
  };
}

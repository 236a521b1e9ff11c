import { hostname } from 'node:os';
import type { Pki } from '../certificates/pki.js';
import type { LiveRootCa } from '../certificates/root-ca.js';
import { reconcilerChecks } from '../endpoints/health-standard-checks.js';
import { bootStages } from '../reconcilers/boot/boot-objects.js';
import { Boot } from '../reconcilers/boot/boot.js';
import { ReconcilerRunner } from '../reconcilers/reconciler-runner.js';
import type { ReconcilerDefinition } from '../reconcilers/reconciler.js';
import { withReconcilers } from '../reconcilers/reconcilers.js';
import { UpstreamPresence } from '../reconcilers/upstream-presence.js';
import type { ServerComponents } from './components.js';
import { clientTrustOf, type ServerTls } from './tls.js';
import type { UndoSteps } from './undo-steps.js';

interface ControlOptions {
  readonly pki: Pki;
  readonly tls: ServerTls;
  readonly rootCa: LiveRootCa;
  readonly port: number;
  readonly reconciles: boolean;
  /** True if other servers may use the same store. */
  readonly storeIsShared: boolean;
  /** Reconcilers of an embedding program. */
  readonly reconcilers: readonly ReconcilerDefinition[];
}

/** Writes the objects that every cluster begins with, then starts the reconcilers. */
export async function startControl(
  components: ServerComponents,
  { pki, tls, rootCa, port, reconciles, reconcilers, storeIsShared }: ControlOptions,
  undo: UndoSteps,
): Promise<void> {
  const { clock, logger, phase, health, config } = components;
  const clientTrust = clientTrustOf(config, tls);
  const upstream = upstreamPresence(components);
  undo.add(() => upstream.stop());
  const boot = new Boot({
    stages: bootStages(components, { rootCa, clientTrust, upstream, port }),
    clock,
    logger,
    done: () => (phase.isBootstrapped = true),
  });
  undo.add(() => boot.stop());
  await boot.start();
  if (!reconciles) return;
  const server = { hostName: hostname(), port, rootCa, clientTrust, issuer: () => pki.issuer() };
  const runner = new ReconcilerRunner(
    { ...components, server, upstream, storeIsShared, measure: components.workQueueMetrics.measure },
    withReconcilers(reconcilers),
  );
  undo.add(() => runner.stop());
  health.add(...reconcilerChecks((name) => phase.reconcilers.has(name)));
  await runner.start();
}

function upstreamPresence({ registry, config: { naming }, clock, logger }: ServerComponents): UpstreamPresence {
  return new UpstreamPresence({
    leases: registry.require(naming.group('coordination'), 'v1', 'leases'),
    namespace: naming.systemNamespace('system'),
    name: naming.systemName('controller-manager'),
    clock,
    logger,
  });
}

import type { switchableReconcilers } from '../config/reconciler-names.js';
import { remoteDocuments } from './api-services/remote-documents.reconciler.js';
import { remoteAvailability } from './api-services/remote-availability.reconciler.js';
import { bootstrapSigner } from './bootstrap-tokens/bootstrap-signer.reconciler.js';
import { tokenCleaner } from './bootstrap-tokens/token-cleaner.reconciler.js';
import { requestApproval } from './certificate-requests/approval.reconciler.js';
import { requestCleaning } from './certificate-requests/cleaning.reconciler.js';
import { requestSigning } from './certificate-requests/signing.reconciler.js';
import { clientTrustReconciler } from './client-trust/client-trust.reconciler.js';
import { definitionCleanup } from './custom-resource-definitions/definition-cleanup.reconciler.js';
import { definitionConditions } from './custom-resource-definitions/definition-conditions.reconciler.js';
import { disruptionReconciler } from './disruption/disruption.reconciler.js';
import { eventExpiry } from './event-expiry/event-expiry.reconciler.js';
import { flowDefaultsReconciler } from './flow-schemas/flow-defaults.reconciler.js';
import { flowSchemaReconciler } from './flow-schemas/flow-schemas.reconciler.js';
import { garbageCollector } from './garbage-collector/garbage-collector.reconciler.js';
import { defaultAccounts, rootCaPublisher } from './namespace-objects/namespace-objects.reconciler.js';
import { namespaceReconciler } from './namespace/namespace.reconciler.js';
import { nodeLifecycle } from './node-lifecycle/node-lifecycle.reconciler.js';
import { podGc } from './pod-gc/pod-gc.reconciler.js';
import { policyStatus } from './policy-status/policy-status.reconciler.js';
import type { ReconcilerDefinition } from './reconciler.js';
import { resourceQuotas } from './resource-quota/resource-quota.reconciler.js';
import { roleAggregation } from './role-aggregation/role-aggregation.reconciler.js';
import { serverIdentity } from './server-identity/server-identity.reconciler.js';
import { serviceAccountTokens } from './service-account-tokens/service-account-tokens.reconciler.js';
import { serviceAllocationReconciler } from './service-allocation/service-allocation.reconciler.js';
import { serviceCidrReconciler } from './service-cidr/service-cidr.reconciler.js';
import {
  attributesClassProtection,
  claimProtection,
  volumeProtection,
} from './storage-protection/storage-protection.reconcilers.js';
import { storageVersionMigration } from './storage-version-migration/storage-version-migration.reconciler.js';
import { taintEviction } from './taint-eviction/taint-eviction.reconciler.js';
import { tokenTrackingDay } from './token-tracking/token-tracking.reconciler.js';
import { ttlAfterFinished } from './ttl-after-finished/ttl-after-finished.reconciler.js';
import { requireNever } from '../std/assert.js';

type Table = typeof switchableReconcilers;

/** A definition whose name and default are those of the table in src/config, or one that no flag names. */
export type BuiltInReconciler =
  | { [Name in keyof Table]: ReconcilerDefinition<Name, Table[Name]['runs']> }[keyof Table]
  | ReconcilerDefinition<string, 'always'>;

/** Every built-in reconciler. Those of every server start first, in this order. */
export const builtInReconcilers = [
  serverIdentity,
  flowSchemaReconciler,
  flowDefaultsReconciler,
  definitionConditions,
  definitionCleanup,
  tokenTrackingDay,
  clientTrustReconciler,
  remoteAvailability,
  remoteDocuments,
  serviceAllocationReconciler,
  defaultAccounts,
  rootCaPublisher,
  serviceAccountTokens,
  namespaceReconciler,
  garbageCollector,
  eventExpiry,
  serviceCidrReconciler,
  resourceQuotas,
  roleAggregation,
  claimProtection,
  volumeProtection,
  attributesClassProtection,
  disruptionReconciler,
  nodeLifecycle,
  taintEviction,
  podGc,
  ttlAfterFinished,
  policyStatus,
  storageVersionMigration,
  requestApproval,
  requestSigning,
  requestCleaning,
  tokenCleaner,
  bootstrapSigner,
] as const satisfies readonly BuiltInReconciler[];

// Does not compile if a reconciler of the table is not in the list: the error names it.
requireNever<Exclude<keyof Table, (typeof builtInReconcilers)[number]['name']>>();

/** Returns the built-in reconcilers and those of an embedding program. */
export function withReconcilers(own: readonly ReconcilerDefinition[]): readonly ReconcilerDefinition[] {
  const all: readonly ReconcilerDefinition[] = [...builtInReconcilers, ...own];
  const twice = own.find(({ name }) => all.filter((other) => other.name === name).length > 1);
  if (twice) throw new Error(`reconciler ${twice.name} is defined twice; give one of the two another name`);
  return all;
}

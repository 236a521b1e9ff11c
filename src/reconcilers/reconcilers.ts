import { remoteAvailability } from './api-services/remote-availability.reconciler.js';
import { requestApproval } from './certificate-requests/approval.reconciler.js';
import { requestCleaning } from './certificate-requests/cleaning.reconciler.js';
import { requestSigning } from './certificate-requests/signing.reconciler.js';
import { clientTrustReconciler } from './client-trust/client-trust.reconciler.js';
import { definitionCleanup } from './custom-resource-definitions/definition-cleanup.reconciler.js';
import { definitionConditions } from './custom-resource-definitions/definition-conditions.reconciler.js';
import { disruptionReconciler } from './disruption/disruption.reconciler.js';
import { eventExpiry } from './event-expiry/event-expiry.reconciler.js';
import { flowSchemaReconciler } from './flow-schemas/flow-schemas.reconciler.js';
import { garbageCollector } from './garbage-collector/garbage-collector.reconciler.js';
import { defaultAccounts, rootCaPublisher } from './namespace-objects/namespace-objects.reconciler.js';
import { namespaceReconciler } from './namespace/namespace.reconciler.js';
import { resourceQuotas } from './resource-quota/resource-quota.reconciler.js';
import { roleAggregation } from './role-aggregation/role-aggregation.reconciler.js';
import { serviceAccountTokens } from './service-account-tokens/service-account-tokens.reconciler.js';
import { serviceCidrReconciler } from './service-cidr/service-cidr.reconciler.js';
import { serverIdentity } from './server-identity/server-identity.reconciler.js';
import {
  attributesClassProtection,
  claimProtection,
  volumeProtection,
} from './storage-protection/storage-protection.reconcilers.js';
import { tokenTrackingDay } from './token-tracking/token-tracking.reconciler.js';
import { ttlAfterFinished } from './ttl-after-finished/ttl-after-finished.reconciler.js';

/** Each can be switched off by its name, which config/reconciler-names.ts lists too. One of all servers on a store runs them. */
export const reconcilers = [
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
  ttlAfterFinished,
  requestApproval,
  requestSigning,
  requestCleaning,
];

/** What every server does for itself. */
export const ownReconcilers = [
  serverIdentity,
  flowSchemaReconciler,
  definitionConditions,
  definitionCleanup,
  tokenTrackingDay,
  clientTrustReconciler,
  remoteAvailability,
];

import type { AccessCheck, AccessDecision } from '../cel/libraries/kubernetes/authorizer.js';
import type { NamingProfile } from '../config/naming-profile.js';
import type { ApiError } from '../machinery/api-error.js';
import type { GroupResource, GroupVersionKind } from '../machinery/gvk.js';
import type { PolicyRule, RoleRef } from '../machinery/policy-rule.js';
import type { UserInfo } from '../machinery/user-info.js';
import type { Clock } from '../std/clock.js';
import type { Rng } from '../std/rng.js';
import type { AdmissionConfiguration } from './configuration/admission-configuration.js';
import type { StaticManifests } from './manifests/static-manifests.js';
import type { ObjectReader } from './object-reader.js';
import type { PolicyObserver } from './policies/policy-observer.js';
import type { PolicyObjects } from './policies/policy-objects.js';
import type { WebhookDependencies } from './webhooks/webhook-dependencies.js';
import type { QuotaLedger } from './quota/quota-ledger.js';

/** A permission to check for a user, cluster-wide unless it has a namespace. */
export interface Permission {
  readonly user: UserInfo;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name: string;
}

interface ResourceOfKind extends GroupResource {
  readonly namespaced: boolean;
}

/** Reads the RBAC rules that users hold through bindings. */
interface HeldRules {
  heldBy(user: UserInfo, namespace: string): { readonly rules: readonly PolicyRule[]; readonly problem?: string };
  /** Undefined if the role does not exist. */
  rulesOf(role: RoleRef, namespace: string): readonly PolicyRule[] | undefined;
}

/** Dependencies that `make` of every admission plug-in receives. */
export interface PluginDependencies {
  readonly objects: ObjectReader;
  readonly ledger: QuotaLedger;
  readonly policyObjects: PolicyObjects;
  readonly policyObserver: PolicyObserver;
  readonly manifests: Pick<StaticManifests, 'objectsOf'>;
  readonly webhooks: WebhookDependencies;
  readonly naming: NamingProfile;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly mayDo: (permission: Permission) => Promise<boolean>;
  /** Returns the Forbidden error for a permission that the user lacks, undefined if the user has it. */
  readonly refusalOf: (permission: Permission) => Promise<ApiError | undefined>;
  /** Answers an `authorizer` check of an expression, for the user or for the service account that the check names. */
  readonly decideAccess: (user: UserInfo, check: AccessCheck) => Promise<AccessDecision>;
  readonly heldRules: HeldRules;
  /** Returns the stored resources of a kind; none if the kind is not served. */
  readonly resourcesOfKind: (kind: GroupVersionKind) => readonly ResourceOfKind[];
  readonly featureGates: Readonly<Record<string, boolean>>;
  readonly allowPrivileged: boolean;
  readonly notReadyTolerationSeconds: number;
  readonly unreachableTolerationSeconds: number;
  /** The content of --admission-control-config-file. */
  readonly configuration: AdmissionConfiguration;
}

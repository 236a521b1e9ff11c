import type { NamingProfile } from '../config/naming-profile.js';
import type { GroupResource, GroupVersionKind } from '../machinery/gvk.js';
import type { UserInfo } from '../machinery/user-info.js';
import type { Clock } from '../std/clock.js';
import type { Rng } from '../std/rng.js';
import type { AdmissionConfiguration } from './configuration/admission-configuration.js';
import type { ObjectReader } from './object-reader.js';
import type { QuotaLedger } from './quota/quota-ledger.js';

/** A right that a plug-in asks for on behalf of who writes; in the whole cluster unless it names a namespace. */
export interface WantedRight {
  readonly user: UserInfo;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name: string;
}

export interface ResourceOfKind extends GroupResource {
  readonly namespaced: boolean;
}

/** What plug-ins are made from. */
export interface PluginParts {
  readonly objects: ObjectReader;
  readonly ledger: QuotaLedger;
  readonly naming: NamingProfile;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly mayDo: (right: WantedRight) => Promise<boolean>;
  /** The stored resources of a kind that is served; none if it is not. */
  readonly resourcesOfKind: (of: GroupVersionKind) => readonly ResourceOfKind[];
  readonly featureGates: Readonly<Record<string, boolean>>;
  readonly allowPrivileged: boolean;
  readonly notReadyTolerationSeconds: number;
  readonly unreachableTolerationSeconds: number;
  /** --admission-control-config-file. */
  readonly configuration: AdmissionConfiguration;
}

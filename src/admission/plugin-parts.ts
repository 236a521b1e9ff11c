import type { NamingProfile } from '../config/naming-profile.js';
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
  readonly namespace?: string;
  readonly name: string;
}

/** What plug-ins are made from. */
export interface PluginParts {
  readonly objects: ObjectReader;
  readonly ledger: QuotaLedger;
  readonly naming: NamingProfile;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly mayDo: (right: WantedRight) => Promise<boolean>;
  readonly allowPrivileged: boolean;
  readonly notReadyTolerationSeconds: number;
  readonly unreachableTolerationSeconds: number;
  /** --admission-control-config-file. */
  readonly configuration: AdmissionConfiguration;
}

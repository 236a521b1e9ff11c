import type { Revision } from '../machinery/revision.js';

/** The result of reading a whole store, as `-o json` prints it. */
export interface CheckReport {
  readonly prefix: string;
  readonly revision: Revision;
  /** Above `revision` if history was compacted during the check and the rest was read at a later revision. */
  readonly lastRevision: Revision;
  readonly seconds: number;
  readonly keys: number;
  readonly totals: ObjectCounts;
  /** Resources with at least one object. */
  readonly resources: readonly ResourceReport[];
  /** Keys that belong to no known resource. */
  readonly others: readonly OtherKeysReport[];
  /** True if every object can be read and is valid. */
  readonly isClean: boolean;
}

export interface ObjectCounts {
  readonly objects: number;
  readonly readable: number;
  /** Readable objects that are stored in another version or encoding than this server writes. */
  readonly converted: number;
  /** Readable objects for which an update without changes is valid. */
  readonly valid: number;
}

export interface ResourceReport extends ObjectCounts {
  readonly group: string;
  readonly resource: string;
  readonly kind: string;
  readonly isCustom: boolean;
  /** The flag that enables the resource, if it is not served. */
  readonly servedWith?: string;
  readonly problems: readonly Problem[];
}

export interface OtherKeysReport {
  /** The beginning of the keys behind the prefix: `masterleases`, `shop.example.com/widgets`. */
  readonly name: string;
  readonly keys: number;
  /** Explains the keys, if more is known than that the resource is unknown. */
  readonly note?: string;
  readonly encrypted: number;
  readonly problems: readonly Problem[];
}

export interface Problem {
  readonly key: string;
  /**
   * `unreadable`: left out of lists. `unknownFields`: read without fields of a newer release; writes are rejected.
   * `invalid`: readable, but every update is rejected until the object is corrected.
   */
  readonly type: 'unreadable' | 'unknownFields' | 'invalid';
  readonly reason: string;
}

export const problemsOf = ({ objects, valid }: ObjectCounts): number => objects - valid;

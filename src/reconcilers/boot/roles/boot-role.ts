/** A role that every cluster begins with, each rule of it as rule-text.ts reads it. */
export interface BootRole {
  readonly rules?: readonly string[];
  /** Its rules are those of all roles that join this one. */
  readonly gathers?: GatheringRole;
  readonly joins?: GatheringRole;
  /** Who is given it, as `Group system:authenticated`; accounts are in the system namespace. No binding when not said. */
  readonly subjects?: readonly string[];
}

export type GatheringRole = 'admin' | 'edit' | 'view';

export interface NamespacedBootRole {
  readonly namespace: 'system' | 'public';
  readonly name: string;
  /** The same as `name` where not said. */
  readonly binding?: string;
  readonly rules: readonly string[];
  readonly subjects: readonly string[];
}

/** Nearly every component tells what it does. */
export const events = 'create,patch,update | core,events. | events';

import type { Rule } from 'eslint';

/** A folder or file whose objects have no type. */
export interface UntypedRoom {
  readonly path: string;
  readonly reason: string;
}

export const untypedRooms: readonly UntypedRoom[];
export const untypedFields: Rule.RuleModule;

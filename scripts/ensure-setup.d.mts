export class SetupError extends Error {}

/** The scope of the set-up: what serving needs, or everything. */
export type SetupScope = 'serve' | 'all';

export function ensureSetup(options: {
  readonly root: string;
  readonly scope?: SetupScope;
  readonly install?: (root: string, log: (line: string) => void, scope: SetupScope) => Promise<void>;
  readonly build?: (root: string) => Promise<void>;
  readonly bundle?: (root: string) => Promise<void>;
  readonly log?: (line: string) => void;
}): Promise<void>;

export function isInstalled(root: string, scope?: SetupScope): boolean;

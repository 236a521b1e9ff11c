export class SetupError extends Error {}

export function ensureSetup(options: {
  readonly root: string;
  readonly install?: (root: string, log: (line: string) => void) => Promise<void>;
  readonly build?: (root: string) => Promise<void>;
  readonly log?: (line: string) => void;
}): Promise<void>;

export function isInstalled(root: string): boolean;

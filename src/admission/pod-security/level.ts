/** The levels of the Pod Security Standards, each stricter than the one before. */
export const levels = ['privileged', 'baseline', 'restricted'] as const;
export type Level = (typeof levels)[number];

/** The minor version (v1.<minor>) whose rules apply, or the latest rules. */
export type PolicyVersion = number | 'latest';

export interface LevelVersion {
  readonly level: Level;
  readonly version: PolicyVersion;
}

export function parseLevel(text: string): Level | undefined {
  return levels.find((level) => level === text);
}

export function parseVersion(text: string): PolicyVersion | undefined {
  if (text === 'latest') return 'latest';
  const match = /^v1\.(0|[1-9][0-9]*)$/.exec(text);
  return match ? Number(match[1]) : undefined;
}

export function isStricter(level: Level, than: Level): boolean {
  return levels.indexOf(level) > levels.indexOf(than);
}

/** `restricted:latest`, `baseline:v1.24` */
export function formatPolicy({ level, version }: LevelVersion): string {
  return `${level}:${version === 'latest' ? version : `v1.${version}`}`;
}

export function samePolicy(a: LevelVersion, b: LevelVersion): boolean {
  return a.level === b.level && a.version === b.version;
}

import type { NamingProfile } from '../../config/naming-profile.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { asLevel, asVersion, isStricter, levels, type Level, type LevelVersion, type PolicyVersion } from './level.js';

/** What is refused, what is noted in the audit log, and what whoever writes is warned of. */
export interface NamespacePolicy {
  readonly enforce: LevelVersion;
  readonly audit: LevelVersion;
  readonly warn: LevelVersion;
}

export type Mode = keyof NamespacePolicy;
export const modes: readonly Mode[] = ['enforce', 'audit', 'warn'];

export interface ReadPolicy {
  readonly policy: NamespacePolicy;
  readonly errors: readonly FieldError[];
}

const labelsAt = path('metadata.labels');

/**
 * The policy that a namespace's labels say, over the server's own. A label that cannot be read counts as the strictest
 * where it refuses, and as nothing where it only tells. Who enforces warns of the same, unless something else is asked.
 */
export function readPolicy(
  labels: Readonly<Record<string, string>> | undefined,
  defaults: NamespacePolicy,
  naming: NamingProfile,
): ReadPolicy {
  const errors: FieldError[] = [];
  const refuse = (label: string, value: string, problem: string) =>
    errors.push(fieldError.invalid(String(labelsAt.key(label)), value, problem));

  const levelOf = (mode: Mode): Level | undefined => {
    const label = naming.label(mode, 'pod-security');
    const value = labels?.[label];
    if (value === undefined) return undefined;
    const level = asLevel(value);
    if (level === undefined) refuse(label, value, `must be one of ${levels.join(', ')}`);
    return level ?? (mode === 'enforce' ? 'restricted' : 'privileged');
  };
  const versionOf = (mode: Mode): PolicyVersion | undefined => {
    const label = naming.label(`${mode}-version`, 'pod-security');
    const value = labels?.[label];
    if (value === undefined) return undefined;
    const version = asVersion(value);
    if (version === undefined) refuse(label, value, 'must be "latest" or "v1.x"');
    return version ?? 'latest';
  };

  const given = Object.fromEntries(modes.map((mode) => [mode, { level: levelOf(mode), version: versionOf(mode) }]));
  const resolved = (mode: Mode): LevelVersion => ({
    level: given[mode]!.level ?? defaults[mode].level,
    version: given[mode]!.version ?? defaults[mode].version,
  });
  const enforce = resolved('enforce');
  const warn = resolved('warn');
  const warnsAsEnforced =
    given['enforce']!.level !== undefined &&
    given['warn']!.level === undefined &&
    isStricter(enforce.level, warn.level);
  return {
    policy: {
      enforce,
      audit: resolved('audit'),
      warn: warnsAsEnforced ? { level: enforce.level, version: given['warn']!.version ?? enforce.version } : warn,
    },
    errors,
  };
}

import type { NamingProfile } from '../../config/naming-profile.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import {
  isStricter,
  levels,
  parseLevel,
  parseVersion,
  type Level,
  type LevelVersion,
  type PolicyVersion,
} from './level.js';

/** The levels whose violations are refused, recorded in audit annotations, and returned as warnings. */
export interface NamespacePolicy {
  readonly enforce: LevelVersion;
  readonly audit: LevelVersion;
  readonly warn: LevelVersion;
}

export type Mode = keyof NamespacePolicy;
export const modes: readonly Mode[] = ['enforce', 'audit', 'warn'];

interface PolicyWithErrors {
  readonly policy: NamespacePolicy;
  readonly errors: readonly FieldError[];
}

const labelsAt = path('metadata.labels');

/**
 * Reads the policy from the labels of a namespace, with defaults from the configuration. An invalid level counts as
 * restricted for enforce, as privileged for audit and warn. Without a warn label, warn is at least as strict as an
 * enforce label.
 */
export function readPolicy(
  labels: Readonly<Record<string, string>> | undefined,
  defaults: NamespacePolicy,
  naming: NamingProfile,
): PolicyWithErrors {
  const errors: FieldError[] = [];
  const addError = (label: string, value: string, problem: string) =>
    errors.push(fieldError.invalid(labelsAt.key(label), value, problem));

  const levelOf = (mode: Mode): Level | undefined => {
    const label = naming.label(mode, 'pod-security');
    const value = labels?.[label];
    if (value === undefined) return undefined;
    const level = parseLevel(value);
    if (level === undefined) addError(label, value, `must be one of ${levels.join(', ')}`);
    return level ?? (mode === 'enforce' ? 'restricted' : 'privileged');
  };
  const versionOf = (mode: Mode): PolicyVersion | undefined => {
    const label = naming.label(`${mode}-version`, 'pod-security');
    const value = labels?.[label];
    if (value === undefined) return undefined;
    const version = parseVersion(value);
    if (version === undefined) addError(label, value, 'must be "latest" or "v1.x"');
    return version ?? 'latest';
  };
  const labelled = (mode: Mode) => ({ level: levelOf(mode), version: versionOf(mode) });

  const byMode = { enforce: labelled('enforce'), audit: labelled('audit'), warn: labelled('warn') };
  const resolved = (mode: Mode): LevelVersion => ({
    level: byMode[mode].level ?? defaults[mode].level,
    version: byMode[mode].version ?? defaults[mode].version,
  });
  const enforce = resolved('enforce');
  const warn = resolved('warn');
  const warnsAsEnforced =
    byMode.enforce.level !== undefined && byMode.warn.level === undefined && isStricter(enforce.level, warn.level);
  return {
    policy: {
      enforce,
      audit: resolved('audit'),
      warn: warnsAsEnforced ? { level: enforce.level, version: byMode.warn.version ?? enforce.version } : warn,
    },
    errors,
  };
}

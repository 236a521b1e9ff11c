import type { NamingProfile } from '../../config/naming-profile.js';
import type { Check, PodView, Rule, VersionedRule, Violation } from './check.js';
import * as host from './checks/host.checks.js';
import * as privilege from './checks/privilege.checks.js';
import {
  appArmorProfile,
  seccompProfileBaseline,
  seccompProfileRestricted,
  seLinuxOptions,
} from './checks/profile.checks.js';
import { restrictedVolumes } from './checks/volume.checks.js';
import { formatPolicy, type LevelVersion, type PolicyVersion } from './level.js';

/** All checks of the Pod Security Standards, in the order in which violations are reported. */
export class PodSecurityStandards {
  private readonly checks: readonly Check[];
  private readonly rulesByPolicy = new Map<string, readonly Rule[]>();

  constructor(naming: NamingProfile) {
    this.checks = [
      appArmorProfile(naming),
      privilege.capabilitiesBaseline,
      host.hostNamespaces,
      host.hostPathVolumes,
      host.hostPorts,
      host.hostProbesAndHostLifecycle,
      host.privileged,
      privilege.procMountBaseline,
      seLinuxOptions,
      seccompProfileBaseline(naming),
      privilege.sysctls,
      host.windowsHostProcess,
      privilege.allowPrivilegeEscalation,
      privilege.capabilitiesRestricted,
      privilege.procMountRestricted,
      restrictedVolumes,
      privilege.runAsNonRoot,
      privilege.runAsUser,
      seccompProfileRestricted,
    ];
  }

  violations(pod: PodView, policy: LevelVersion): Violation[] {
    return this.rulesFor(policy).flatMap((rule) => rule(pod) ?? []);
  }

  private rulesFor(policy: LevelVersion): readonly Rule[] {
    if (policy.level === 'privileged') return [];
    const key = formatPolicy(policy);
    let rules = this.rulesByPolicy.get(key);
    if (!rules) this.rulesByPolicy.set(key, (rules = this.selectRules(policy)));
    return rules;
  }

  private selectRules({ level, version }: LevelVersion): readonly Rule[] {
    const active = this.checks
      .filter((check) => level === 'restricted' || check.level === 'baseline')
      .flatMap((check) => {
        const rule = ruleAt(check, version);
        return rule ? [{ id: check.id, ...rule }] : [];
      });
    const replaced = new Set(active.flatMap(({ replaces = [] }) => replaces));
    return active.filter(({ id }) => !replaced.has(id)).map(({ rule }) => rule);
  }
}

function ruleAt({ rules }: Check, version: PolicyVersion): VersionedRule | undefined {
  return rules.filter(({ since }) => version === 'latest' || since <= version).at(-1);
}

/** `reason (detail), reason (detail)` */
export function formatViolations(violations: readonly Violation[]): string {
  return violations.map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`)).join(', ');
}

export function formatReasons(violations: readonly Violation[]): string {
  return violations.map(({ reason }) => reason).join(', ');
}

import type { SELinuxOptions, SecurityContext } from '../../../catalog/types/core.v1.js';
import type { NamingProfile } from '../../../config/naming-profile.js';
import { goQuote } from '../../../machinery/field-error.js';
import type { Check, PodView, Violation } from '../check.js';
import { allContexts, containerContexts, isWindows, namesOf, podContext, settersOf } from '../security-contexts.js';
import { distinct, plural, quoted, quotedContainers } from '../text.js';

type ProfileField = 'appArmorProfile' | 'seccompProfile';

/** Returns the type of the profile, '' if the profile has none, undefined if there is no profile. */
const profileType = (context: SecurityContext, field: ProfileField): string | undefined =>
  context[field] && (context[field].type ?? '');

const goodTypes = ['RuntimeDefault', 'Localhost'];
const isBadType = (field: ProfileField) => (context: SecurityContext) => {
  const type = profileType(context, field);
  return type !== undefined && !goodTypes.includes(type);
};

const badTypes = (pod: PodView, field: ProfileField): string[] =>
  distinct(
    allContexts(pod)
      .filter(isBadType(field))
      .map((context) => profileType(context, field)!),
  );

export function appArmorProfile(naming: NamingProfile): Check {
  const prefix = naming.label('', 'container.apparmor.security.beta');
  const isGood = (value: string) => ['', 'runtime/default'].includes(value) || value.startsWith('localhost/');
  return {
    id: 'appArmorProfile',
    level: 'baseline',
    rules: [
      {
        since: 0,
        rule(pod) {
          const setters = settersOf(pod, isBadType('appArmorProfile'));
          const annotations = Object.entries(pod.annotations)
            .filter(([key, value]) => key.startsWith(prefix) && !isGood(value))
            .map(([key, value]) => `${key}=${goQuote(value)}`)
            .sort();
          const values = [...badTypes(pod, 'appArmorProfile'), ...annotations];
          if (values.length === 0) return undefined;
          const who = [
            ...(setters === undefined ? [] : [setters]),
            ...(annotations.length === 0 ? [] : [plural('annotation', 'annotations', annotations.length)]),
          ];
          return {
            reason: plural('forbidden AppArmor profile', 'forbidden AppArmor profiles', values.length),
            detail: `${who.join(' and ')} must not set AppArmor profile type to ${quoted(values)}`,
          };
        },
      },
    ],
  };
}

/** Reads the profile from annotations before v1.19, from securityContext.seccompProfile since then. */
export function seccompProfileBaseline(naming: NamingProfile): Check {
  const podKey = naming.label('pod', 'seccomp.security.alpha');
  const containerPrefix = naming.label('', 'container.seccomp.security.alpha');
  const isGood = (value: string) =>
    ['runtime/default', 'docker/default'].includes(value) || value.startsWith('localhost/');
  return {
    id: 'seccompProfile_baseline',
    level: 'baseline',
    rules: [
      {
        since: 0,
        rule(pod) {
          const keys = [podKey, ...containerContexts(pod).map(({ name }) => containerPrefix + name)];
          const bad = distinct(
            keys
              .filter((key) => pod.annotations[key] !== undefined && !isGood(pod.annotations[key]))
              .map((key) => `${key}=${goQuote(pod.annotations[key]!)}`),
          );
          if (bad.length === 0) return undefined;
          return {
            reason: 'seccompProfile',
            detail: `forbidden ${plural('annotation', 'annotations', bad.length)} ${bad.join(', ')}`,
          };
        },
      },
      { since: 19, rule: refuseBadSeccomp },
    ],
  };
}

export const seccompProfileRestricted: Check = {
  id: 'seccompProfile_restricted',
  level: 'restricted',
  rules: [
    { since: 19, rule: requireSeccomp, replaces: ['seccompProfile_baseline'] },
    {
      since: 25,
      rule: (pod) => (isWindows(pod) ? undefined : requireSeccomp(pod)),
      replaces: ['seccompProfile_baseline'],
    },
  ],
};

const seccomp = 'seccompProfile';

function refuseBadSeccomp(pod: PodView): Violation | undefined {
  const setters = settersOf(pod, isBadType(seccomp));
  if (setters === undefined) return undefined;
  return {
    reason: seccomp,
    detail: `${setters} must not set securityContext.seccompProfile.type to ${quoted(badTypes(pod, seccomp))}`,
  };
}

function requireSeccomp(pod: PodView): Violation | undefined {
  const bad = refuseBadSeccomp(pod);
  if (bad || profileType(podContext(pod), seccomp) !== undefined) return bad;
  const without = namesOf(pod, (context) => profileType(context, seccomp) === undefined);
  if (without.length === 0) return undefined;
  return {
    reason: seccomp,
    detail: `pod or ${quotedContainers(without)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
  };
}

const seLinuxTypes = ['', 'container_t', 'container_init_t', 'container_kvm_t'];

export const seLinuxOptions: Check = {
  id: 'seLinuxOptions',
  level: 'baseline',
  rules: [
    { since: 0, rule: refuseSeLinux(seLinuxTypes) },
    { since: 31, rule: refuseSeLinux([...seLinuxTypes, 'container_engine_t']) },
  ],
};

function refuseSeLinux(goodSeLinuxTypes: readonly string[]): (pod: PodView) => Violation | undefined {
  const isBadSeLinuxType = ({ type = '' }: SELinuxOptions) => !goodSeLinuxTypes.includes(type);
  const isRefused = ({ seLinuxOptions: options = {} }: SecurityContext) =>
    isBadSeLinuxType(options) || Boolean(options.user) || Boolean(options.role);
  return (pod) => {
    const setters = settersOf(pod, isRefused);
    if (setters === undefined) return undefined;
    const all = allContexts(pod).map(({ seLinuxOptions: options = {} }) => options);
    const types = distinct(all.filter(isBadSeLinuxType).map(({ type = '' }) => type));
    const faults = [
      ...(types.length > 0 ? [`${plural('type', 'types', types.length)} ${quoted(types)}`] : []),
      ...(['user', 'role'] as const)
        .filter((field) => all.some((options) => options[field]))
        .map((field) => `${field} may not be set`),
    ];
    return {
      reason: 'seLinuxOptions',
      detail: `${setters} set forbidden securityContext.seLinuxOptions: ${faults.join('; ')}`,
    };
  };
}

import type {
  AppArmorProfile,
  Container,
  ContainerStatus,
  EphemeralContainer,
  PodSecurityContext,
  PodSpec,
  SeccompProfile,
  SecurityContext,
  Sysctl,
} from '../../../catalog/types/core.v1.js';
import { fieldError, type FieldError, type FieldPath } from '../../../machinery/field-error.js';
import { between, duplicates, each, oneOf } from '../../../machinery/field-rules.js';
import { goStruct } from '../../../machinery/go-value.js';
import type { Int64 } from '../../../machinery/int64.js';
import { containerSecurityShape } from '../go-shapes.js';

const idMax = 2147483647;

/** Validates the users that containers run as, in their status. */
export function validateContainerUsers(
  statuses: readonly ContainerStatus[] | undefined,
  at: FieldPath,
  osName: string,
): FieldError[] {
  return each(statuses, at, ({ user: { linux } = {} }, statusAt) => {
    if (!linux) return [];
    const linuxAt = statusAt.child('user', 'linux');
    if (osName === 'windows') return [fieldError.forbidden(linuxAt, 'cannot be set for a windows pod')];
    if (osName !== 'linux') return [];
    return [
      ...validateIds(linux, linuxAt, ['uid', 'gid']),
      ...validateGroups(linux.supplementalGroups, linuxAt.child('supplementalGroups')),
    ];
  });
}

/** Validates spec.securityContext, and the host namespaces that a Pod uses. */
export function validatePodSecurity(spec: PodSpec, at: FieldPath): FieldError[] {
  const { securityContext: context = {} } = spec;
  const contextAt = at.child('securityContext');
  const errors = [
    ...validateIds(context, contextAt, ['fsGroup', 'runAsUser', 'runAsGroup']),
    ...validateGroups(context.supplementalGroups, contextAt.child('supplementalGroups')),
    ...validateSysctls(context.sysctls ?? [], contextAt.child('sysctls')),
    ...oneOf(context.fsGroupChangePolicy, contextAt.child('fsGroupChangePolicy'), ['Always', 'OnRootMismatch']),
    ...oneOf(context.supplementalGroupsPolicy, contextAt.child('supplementalGroupsPolicy'), ['Merge', 'Strict']),
    ...validateProfiles(context, contextAt),
  ];
  if (spec.shareProcessNamespace === true && spec.hostPID === true) {
    const message = 'ShareProcessNamespace and HostPID cannot both be enabled';
    errors.push(fieldError.invalid(contextAt.child('shareProcessNamespace'), true, message));
  }
  if (spec.hostUsers === false) {
    for (const field of ['hostNetwork', 'hostPID', 'hostIPC'] as const) {
      if (spec[field] === true) errors.push(fieldError.forbidden(at.child(field), 'when `hostUsers` is false'));
    }
  }
  return errors;
}

function validateGroups(groups: readonly Int64[] | undefined, at: FieldPath): FieldError[] {
  return (groups ?? []).flatMap((group, index) => between(group, at.index(index), 0, idMax));
}

function validateIds<Field extends string>(
  context: { readonly [Id in Field]?: Int64 | undefined },
  at: FieldPath,
  fields: readonly Field[],
): FieldError[] {
  return fields.flatMap((field) => between(context[field], at.child(field), 0, idMax));
}

const sysctlLengthMax = 253;

/** True for segments of lower-case letters, digits, dashes and underscores, separated by dots or slashes. */
function isSysctl(name: string): boolean {
  return (
    name.length <= sysctlLengthMax &&
    name.split(/[./]/).every((segment) => /^[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?$/.test(segment))
  );
}

function validateSysctls(sysctls: readonly Sysctl[], at: FieldPath): FieldError[] {
  return [
    ...each(sysctls, at, ({ name = '' }, itemAt) => {
      const nameAt = itemAt.child('name');
      if (name === '') return [fieldError.required(nameAt)];
      const message =
        'must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$';
      return isSysctl(name) ? [] : [fieldError.invalid(nameAt, name, message)];
    }),
    ...duplicates(
      sysctls,
      ({ name = '' }) => (name.length > sysctlLengthMax ? name : name.replaceAll('/', '.')),
      (index) => at.index(index).child('name'),
    ),
  ];
}

const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined'];

function validateProfiles(context: PodSecurityContext | SecurityContext, at: FieldPath): FieldError[] {
  return [
    ...validateProfile(context.seccompProfile, at.child('seccompProfile'), 'seccomp'),
    ...validateProfile(context.appArmorProfile, at.child('appArmorProfile'), 'AppArmor'),
  ];
}

function validateProfile(
  profile: SeccompProfile | AppArmorProfile | undefined,
  at: FieldPath,
  kind: 'seccomp' | 'AppArmor',
): FieldError[] {
  if (!profile) return [];
  const { type = '', localhostProfile } = profile;
  const typeAt = at.child('type');
  if (type === '') return [fieldError.required(typeAt, `type is required when ${kind}Profile is set`)];
  const localhostAt = at.child('localhostProfile');
  if (type === 'Localhost') {
    return localhostProfile ? [] : [fieldError.required(localhostAt, `must be set when ${kind} type is Localhost`)];
  }
  const errors = oneOf(type, typeAt, profileTypes);
  if (localhostProfile !== undefined) {
    const shown = { Type: type, LocalhostProfile: localhostProfile };
    errors.push(fieldError.invalid(localhostAt, shown, `can only be set when ${kind} type is Localhost`));
  }
  return errors;
}

export function validateContainerSecurity(context: SecurityContext | undefined, at: FieldPath): FieldError[] {
  if (!context) return [];
  const errors = [
    ...validateIds(context, at, ['runAsUser', 'runAsGroup']),
    ...oneOf(context.procMount, at.child('procMount'), ['Default', 'Unmasked']),
    ...validateProfiles(context, at),
  ];
  if (context.allowPrivilegeEscalation !== false) return errors;
  const refuse = (setting: string) =>
    errors.push(
      fieldError.invalid(
        at,
        goStruct(context, containerSecurityShape),
        `cannot set \`allowPrivilegeEscalation\` to false and ${setting}`,
      ),
    );
  if (context.privileged === true) refuse('`privileged` to true');
  if (context.capabilities?.add?.includes('CAP_SYS_ADMIN')) refuse('`capabilities.Add` CAP_SYS_ADMIN');
  return errors;
}

const linuxOnly = {
  pod: ['hostPID', 'hostIPC', 'hostUsers', 'shareProcessNamespace'],
  podContext: [
    'appArmorProfile',
    'seLinuxOptions',
    'seccompProfile',
    'fsGroup',
    'fsGroupChangePolicy',
    'sysctls',
    'runAsUser',
    'runAsGroup',
    'supplementalGroups',
    'supplementalGroupsPolicy',
  ],
  context: [
    'appArmorProfile',
    'seLinuxOptions',
    'seccompProfile',
    'capabilities',
    'readOnlyRootFilesystem',
    'privileged',
    'allowPrivilegeEscalation',
    'procMount',
    'runAsUser',
    'runAsGroup',
  ],
} as const;

/** Rejects settings that the operating system of the Pod does not have. */
export function validateOs(spec: PodSpec, at: FieldPath): FieldError[] {
  if (!spec.os) return [];
  const { name: os = '' } = spec.os;
  if (os === '') return [fieldError.required(at.child('os', 'name'))];
  const { securityContext: podContext = {} } = spec;
  const podContextAt = at.child('securityContext');
  const contexts = (['containers', 'initContainers', 'ephemeralContainers'] as const).flatMap((list) => {
    const containers: readonly (Container | EphemeralContainer)[] = spec[list] ?? [];
    return containers.map(({ securityContext: context = {} }, index) => ({
      context,
      contextAt: at.child(list).index(index).child('securityContext'),
    }));
  });
  if (os === 'linux') {
    const message = 'windows options cannot be set for a linux pod';
    return [{ context: podContext, contextAt: podContextAt }, ...contexts].flatMap(({ context, contextAt }) =>
      forbid(context, contextAt, ['windowsOptions'], message),
    );
  }
  if (os !== 'windows') return [fieldError.notSupported(at.child('os'), os, ['linux', 'windows'])];
  const message = 'cannot be set for a windows pod';
  return [
    ...forbid(spec, at, linuxOnly.pod, message),
    ...forbid(podContext, podContextAt, linuxOnly.podContext, message),
    ...contexts.flatMap(({ context, contextAt }) => forbid(context, contextAt, linuxOnly.context, message)),
  ];
}

/** Rejects fields that are set, except to false. */
function forbid<Field extends string>(
  value: { readonly [Name in Field]?: unknown },
  at: FieldPath,
  fields: readonly Field[],
  message: string,
): FieldError[] {
  return fields
    .filter((field) => value[field] !== undefined && value[field] !== false)
    .map((field) => fieldError.forbidden(at.child(field), message));
}

import { fieldError, type FieldError, type FieldPath } from '../../../machinery/field-error.js';
import { between, duplicates, each, oneOf } from '../../../machinery/field-rules.js';
import { asFields, asItems, asText, asTexts, isSet, type Fields } from '../../../machinery/fields.js';

const idMax = 2147483647;

/** The security settings of a pod as a whole, and the namespaces of its host that it shares. */
export function validatePodSecurity(spec: Fields, at: FieldPath): FieldError[] {
  const context = asFields(spec['securityContext']);
  const contextAt = at.child('securityContext');
  const errors = [
    ...validateIds(context, contextAt, ['fsGroup', 'runAsUser', 'runAsGroup']),
    ...(Array.isArray(context['supplementalGroups']) ? context['supplementalGroups'] : []).flatMap((group, index) =>
      between(group, contextAt.child('supplementalGroups').index(index), 0, idMax),
    ),
    ...validateSysctls(context['sysctls'], contextAt.child('sysctls')),
    ...oneOf(context['fsGroupChangePolicy'], contextAt.child('fsGroupChangePolicy'), ['Always', 'OnRootMismatch']),
    ...oneOf(context['supplementalGroupsPolicy'], contextAt.child('supplementalGroupsPolicy'), ['Merge', 'Strict']),
    ...validateProfiles(context, contextAt),
  ];
  if (spec['shareProcessNamespace'] === true && spec['hostPID'] === true) {
    const where = String(contextAt.child('shareProcessNamespace'));
    errors.push(fieldError.invalid(where, true, 'ShareProcessNamespace and HostPID cannot both be enabled'));
  }
  if (spec['hostUsers'] === false) {
    for (const field of ['hostNetwork', 'hostPID', 'hostIPC']) {
      if (spec[field] === true) errors.push(fieldError.forbidden(String(at.child(field)), 'when `hostUsers` is false'));
    }
  }
  return errors;
}

function validateIds(context: Fields, at: FieldPath, fields: readonly string[]): FieldError[] {
  return fields.flatMap((field) => between(context[field], at.child(field), 0, idMax));
}

/** Segments of lower-case letters, digits, dashes and underscores, between dots or slashes. */
function isSysctl(name: string): boolean {
  return (
    name.length <= 253 && name.split(/[./]/).every((segment) => /^[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?$/.test(segment))
  );
}

function validateSysctls(sysctls: unknown, at: FieldPath): FieldError[] {
  return [
    ...each(sysctls, at, (sysctl, itemAt) => {
      const name = asText(sysctl['name']);
      if (name === '') return [fieldError.required(String(itemAt.child('name')))];
      const message =
        'must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$';
      return isSysctl(name) ? [] : [fieldError.invalid(String(itemAt.child('name')), name, message)];
    }),
    ...duplicates(
      asItems(sysctls),
      (sysctl) => asText(sysctl['name']).replaceAll('/', '.'),
      (index) => at.index(index).child('name'),
    ),
  ];
}

const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined'];

function validateProfiles(context: Fields, at: FieldPath): FieldError[] {
  return [
    ...validateProfile(context['seccompProfile'], at.child('seccompProfile'), 'seccomp'),
    ...validateProfile(context['appArmorProfile'], at.child('appArmorProfile'), 'AppArmor'),
  ];
}

function validateProfile(profile: unknown, at: FieldPath, what: string): FieldError[] {
  if (!isSet(profile)) return [];
  const { type, localhostProfile } = asFields(profile);
  if (asText(type) === '')
    return [fieldError.required(String(at.child('type')), `type is required when ${what}Profile is set`)];
  const where = String(at.child('localhostProfile'));
  if (type === 'Localhost') {
    return asText(localhostProfile) === ''
      ? [fieldError.required(where, `must be set when ${what} type is Localhost`)]
      : [];
  }
  const errors = oneOf(type, at.child('type'), profileTypes);
  if (isSet(localhostProfile)) {
    const given = { Type: type, LocalhostProfile: localhostProfile };
    errors.push(fieldError.invalid(where, given, `can only be set when ${what} type is Localhost`));
  }
  return errors;
}

export function validateContainerSecurity(securityContext: unknown, at: FieldPath): FieldError[] {
  if (!isSet(securityContext)) return [];
  const context = asFields(securityContext);
  const errors = [
    ...validateIds(context, at, ['runAsUser', 'runAsGroup']),
    ...oneOf(context['procMount'], at.child('procMount'), ['Default', 'Unmasked']),
    ...validateProfiles(context, at),
  ];
  if (context['allowPrivilegeEscalation'] !== false) return errors;
  const refuse = (what: string) =>
    errors.push(
      fieldError.invalid(String(at), asShown(context), `cannot set \`allowPrivilegeEscalation\` to false and ${what}`),
    );
  if (context['privileged'] === true) refuse('`privileged` to true');
  if (asTexts(asFields(context['capabilities'])['add']).includes('CAP_SYS_ADMIN'))
    refuse('`capabilities.Add` CAP_SYS_ADMIN');
  return errors;
}

const shownFields = [
  'capabilities',
  'privileged',
  'seLinuxOptions',
  'windowsOptions',
  'runAsUser',
  'runAsGroup',
  'runAsNonRoot',
  'readOnlyRootFilesystem',
  'allowPrivilegeEscalation',
  'procMount',
  'seccompProfile',
  'appArmorProfile',
];

/** Messages show the whole context, with every field that it could have. */
function asShown(context: Fields): Fields {
  const capitalized = (name: string) =>
    name.startsWith('se') && name[2] === 'L' ? `SE${name.slice(2)}` : name[0]!.toUpperCase() + name.slice(1);
  return Object.fromEntries(
    shownFields.map((field) => {
      const value = context[field] ?? null;
      if (field !== 'capabilities' || value === null) return [capitalized(field), value];
      const { add, drop } = asFields(value);
      return ['Capabilities', { Add: add ?? null, Drop: drop ?? null }];
    }),
  );
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

/** Settings that the pod's operating system has no meaning for. */
export function validateOs(spec: Fields, at: FieldPath): FieldError[] {
  if (!isSet(spec['os'])) return [];
  const os = asText(asFields(spec['os'])['name']);
  if (os === '') return [fieldError.required(String(at.child('os', 'name')))];
  const contexts: [Fields, FieldPath][] = ['containers', 'initContainers', 'ephemeralContainers'].flatMap((list) =>
    asItems(spec[list]).map((it, index): [Fields, FieldPath] => [
      asFields(it['securityContext']),
      at.child(list).index(index).child('securityContext'),
    ]),
  );
  const podContext: [Fields, FieldPath] = [asFields(spec['securityContext']), at.child('securityContext')];
  const forbid =
    (fields: readonly string[], message: string) =>
    ([value, where]: [Fields, FieldPath]) =>
      fields
        .filter((field) => isSet(value[field]) && value[field] !== false)
        .map((field) => fieldError.forbidden(String(where.child(field)), message));
  if (os === 'linux') {
    return [podContext, ...contexts].flatMap(
      forbid(['windowsOptions'], 'windows options cannot be set for a linux pod'),
    );
  }
  if (os !== 'windows') return [fieldError.notSupported(String(at.child('os')), os, ['linux', 'windows'])];
  const message = 'cannot be set for a windows pod';
  return [
    ...forbid(linuxOnly.pod, message)([spec, at]),
    ...forbid(linuxOnly.podContext, message)(podContext),
    ...contexts.flatMap(forbid(linuxOnly.context, message)),
  ];
}

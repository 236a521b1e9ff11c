import type {
  Container,
  ContainerPort,
  ContainerResizePolicy,
  EphemeralContainer,
  PodSpec,
} from '../../../catalog/types/core.v1.js';
import { fieldError, type FieldError, type FieldPath } from '../../../machinery/field-error.js';
import { between, checked, duplicates, each, oneOf, requiredName } from '../../../machinery/field-rules.js';
import { isSet } from '../../../machinery/fields.js';
import { validateDnsLabel, validatePortName } from '../../../machinery/names.js';
import { repeatedValues } from '../../../machinery/value-key.js';
import { validateLifecycle, validateProbes } from './probe.validation.js';
import { validateContainerSecurity } from './security.validation.js';
import { validateContainerResources } from './resources.validation.js';
import type { PodReferences } from './pod-references.js';
import { validateEnvFrom, validateVariable } from './env.validation.js';
import { validateMounts } from './mounts.validation.js';

export const protocols = ['SCTP', 'TCP', 'UDP'] as const;

export function validateContainers(spec: PodSpec, at: FieldPath, references: PodReferences): FieldError[] {
  const containers = spec.containers ?? [];
  const { initContainers = [], terminationGracePeriodSeconds: graceSeconds } = spec;
  const containersAt = at.child('containers');
  const initContainersAt = at.child('initContainers');
  const errors: FieldError[] = [];
  if (containers.length === 0) errors.push(fieldError.required(containersAt));
  const rule = (container: Container, itemAt: FieldPath) =>
    validateContainer(container, itemAt, references, graceSeconds);
  errors.push(
    ...each(containers, containersAt, rule),
    ...validateHostPorts(containers, containersAt),
    ...each(initContainers, initContainersAt, rule, validateInitContainer),
    ...duplicates(
      [...containers, ...initContainers],
      ({ name = '' }) => name,
      (index) =>
        (index < containers.length
          ? containersAt.index(index)
          : initContainersAt.index(index - containers.length)
        ).child('name'),
    ),
  );
  return errors;
}

function validateContainer(
  container: Container,
  at: FieldPath,
  references: PodReferences,
  graceSeconds: number | bigint | undefined,
): FieldError[] {
  return [
    ...validateContainerCommon(container, at, references),
    ...validateLifecycle(container.lifecycle ?? {}, at.child('lifecycle'), graceSeconds),
    ...validateProbes(container, at),
  ];
}

/** The rules that containers, init containers and ephemeral containers have in common. */
function validateContainerCommon(
  container: Container | EphemeralContainer,
  at: FieldPath,
  references: PodReferences,
): FieldError[] {
  return [
    ...requiredName(container.name ?? '', at.child('name'), validateDnsLabel),
    ...validateImage(container, at),
    ...validatePorts(container.ports ?? [], at.child('ports'), references),
    ...each(container.env, at.child('env'), validateVariable),
    ...each(container.envFrom, at.child('envFrom'), (source, sourceAt) =>
      validateEnvFrom(source, at.child('envFrom'), sourceAt),
    ),
    ...validateMounts(container, at, references),
    ...oneOf(container.imagePullPolicy, at.child('imagePullPolicy'), ['Always', 'IfNotPresent', 'Never']),
    ...oneOf(container.terminationMessagePolicy, at.child('terminationMessagePolicy'), [
      'File',
      'FallbackToLogsOnError',
    ]),
    ...oneOf(container.restartPolicy, at.child('restartPolicy'), ['Always', 'Never', 'OnFailure']),
    ...validateContainerResources(container.resources ?? {}, at.child('resources'), references.claims),
    ...validateResizePolicy(container.resizePolicy ?? [], at.child('resizePolicy')),
    ...validateContainerSecurity(container.securityContext, at.child('securityContext')),
  ];
}

/** Also used on updates, which may change images. */
export function validateImage({ image = '' }: Container, at: FieldPath): FieldError[] {
  const imageAt = at.child('image');
  if (image === '') return [fieldError.required(imageAt)];
  if (image.trim() === image) return [];
  return [fieldError.invalid(imageAt, image, 'must not have leading or trailing whitespace')];
}

const sidecarFields = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const;

/** Accepts probes and lifecycle hooks only for sidecars, which keep running: restartPolicy is Always. */
function validateInitContainer(container: Container, at: FieldPath): FieldError[] {
  if (container.restartPolicy === 'Always') return [];
  return sidecarFields
    .filter((field) => isSet(container[field]))
    .map((field) =>
      fieldError.forbidden(at.child(field), 'may not be set for init containers without restartPolicy=Always'),
    );
}

function validatePorts(ports: readonly ContainerPort[], at: FieldPath, { hostNetwork }: PodReferences): FieldError[] {
  return [
    ...each(ports, at, ({ name = '', containerPort, hostPort, protocol = '' }, portAt) => {
      const containerPortAt = portAt.child('containerPort');
      const hostPortAt = portAt.child('hostPort');
      const errors = name === '' ? [] : checked(name, portAt.child('name'), validatePortName);
      if (!containerPort) errors.push(fieldError.required(containerPortAt));
      else errors.push(...between(containerPort, containerPortAt, 1, 65535));
      if (hostPort) {
        errors.push(...between(hostPort, hostPortAt, 1, 65535));
        if (hostNetwork && hostPort !== containerPort) {
          const message = 'must match `containerPort` when `hostNetwork` is true';
          errors.push(fieldError.invalid(hostPortAt, hostPort, message));
        }
      }
      return [...errors, ...oneOf(protocol, portAt.child('protocol'), protocols)];
    }),
    ...duplicates(
      ports,
      ({ name = '' }) => name,
      (index) => at.index(index).child('name'),
    ),
  ];
}

/** Requires that no two containers use the same port of the host. */
function validateHostPorts(containers: readonly Container[], at: FieldPath): FieldError[] {
  const ports = containers.flatMap((container, i) =>
    (container.ports ?? []).map((port, j) => ({ port, at: at.index(i).child('ports').index(j).child('hostPort') })),
  );
  return duplicates(
    ports,
    ({ port: { protocol = '', hostIP = '', hostPort } }) => (hostPort ? `${protocol}/${hostIP}/${hostPort}` : ''),
    (index) => ports[index]!.at,
  );
}

function validateResizePolicy(policies: readonly ContainerResizePolicy[], at: FieldPath): FieldError[] {
  return [
    ...each(policies, at, ({ resourceName = '', restartPolicy = '' }) => [
      ...oneOf(resourceName, at, ['cpu', 'memory']),
      ...oneOf(restartPolicy, at, ['NotRequired', 'RestartContainer']),
    ]),
    ...duplicates(
      policies,
      ({ resourceName = '' }) => resourceName,
      (index) => at.index(index),
    ),
  ];
}

const notForEphemeral = [
  'ports',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
  'resizePolicy',
  'restartPolicy',
] as const;

/** Rejects resources, ports, probes and hooks: ephemeral containers are for debugging a running Pod. */
export function validateEphemeralContainers(spec: PodSpec, at: FieldPath, references: PodReferences): FieldError[] {
  const { ephemeralContainers = [], initContainers = [] } = spec;
  const otherNames = new Set([...(spec.containers ?? []), ...initContainers].map(({ name = '' }) => name));
  const names = ephemeralContainers.map(({ name = '' }) => name);
  // Duplicates among the other containers have errors there.
  const isDuplicate = repeatedValues([...otherNames, ...names]).slice(otherNames.size);
  const listAt = at.child('ephemeralContainers');
  return [
    ...each(ephemeralContainers, listAt, (container, itemAt) => {
      const { targetContainerName: target = '', resources = {} } = container;
      const errors = validateContainerCommon(container, itemAt, references);
      if (target !== '' && !otherNames.has(target)) {
        errors.push(fieldError.notFound(itemAt.child('targetContainerName'), target));
      }
      const set: string[] = notForEphemeral.filter((field) => isSet(container[field]));
      if (Object.keys(resources).length > 0) set.push('resources');
      for (const field of set) {
        errors.push(fieldError.forbidden(itemAt.child(field), 'cannot be set for an Ephemeral Container'));
      }
      return errors;
    }),
    ...names.flatMap((name, index) =>
      name !== '' && isDuplicate[index] ? [fieldError.duplicate(listAt.index(index).child('name'), name)] : [],
    ),
  ];
}

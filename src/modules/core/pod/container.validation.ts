import { fieldError, type FieldError, type FieldPath } from '../../../machinery/field-error.js';
import { between, checked, duplicates, each, oneOf, requiredName } from '../../../machinery/field-rules.js';
import { asFields, asItems, asNumber, asText, isSet, type Fields } from '../../../machinery/fields.js';
import {
  validateConfigKey,
  validateDnsLabel,
  validateDnsSubdomain,
  validatePortName,
  validateRelaxedEnvVarName,
} from '../../../machinery/names.js';
import { repeatedValues } from '../../../machinery/value-key.js';
import { fieldsOfVariables, validateFieldRef, validateResourceFieldRef } from './field-ref.validation.js';
import { isFilePath } from './paths.validation.js';
import { validateLifecycle, validateProbes } from './probe.validation.js';
import { validateContainerSecurity } from './security.validation.js';
import { validateContainerResources } from './resources.validation.js';

/** What the containers of a pod may refer to. */
export interface PodNames {
  readonly volumes: ReadonlyMap<string, Fields>;
  readonly claims: ReadonlySet<string>;
  readonly hostNetwork: boolean;
}

export const protocols = ['SCTP', 'TCP', 'UDP'] as const;

export function validateContainers(spec: Fields, at: FieldPath, names: PodNames): FieldError[] {
  const containers = asItems(spec['containers']);
  const initContainers = asItems(spec['initContainers']);
  const errors: FieldError[] = [];
  if (containers.length === 0) errors.push(fieldError.required(String(at.child('containers'))));
  const graceSeconds = spec['terminationGracePeriodSeconds'];
  const rule = (container: Fields, itemAt: FieldPath) => validateContainer(container, itemAt, names, graceSeconds);
  errors.push(
    ...each(containers, at.child('containers'), rule),
    ...validateHostPorts(containers, at.child('containers')),
    ...each(initContainers, at.child('initContainers'), rule, validateInitContainer),
    ...duplicates(
      [...containers, ...initContainers],
      (container) => asText(container['name']),
      (index) =>
        (index < containers.length
          ? at.child('containers').index(index)
          : at.child('initContainers').index(index - containers.length)
        ).child('name'),
    ),
  );
  return errors;
}

function validateContainer(container: Fields, at: FieldPath, names: PodNames, graceSeconds: unknown): FieldError[] {
  return [
    ...validateContainerCommon(container, at, names),
    ...validateLifecycle(container['lifecycle'], at.child('lifecycle'), graceSeconds),
    ...validateProbes(container, at),
  ];
}

/** What also holds for ephemeral containers. */
export function validateContainerCommon(container: Fields, at: FieldPath, names: PodNames): FieldError[] {
  return [
    ...requiredName(asText(container['name']), at.child('name'), validateDnsLabel),
    ...validateImage(container, at),
    ...validatePorts(container['ports'], at.child('ports'), names),
    ...each(container['env'], at.child('env'), validateVariable),
    ...each(container['envFrom'], at.child('envFrom'), (source, sourceAt) =>
      validateEnvFrom(source, at.child('envFrom'), sourceAt),
    ),
    ...validateMounts(container, at, names),
    ...oneOf(container['imagePullPolicy'], at.child('imagePullPolicy'), ['Always', 'IfNotPresent', 'Never']),
    ...oneOf(container['terminationMessagePolicy'], at.child('terminationMessagePolicy'), [
      'File',
      'FallbackToLogsOnError',
    ]),
    ...oneOf(container['restartPolicy'], at.child('restartPolicy'), ['Always', 'Never', 'OnFailure']),
    ...validateContainerResources(asFields(container['resources']), at.child('resources'), names.claims),
    ...validateResizePolicy(container['resizePolicy'], at.child('resizePolicy')),
    ...validateContainerSecurity(container['securityContext'], at.child('securityContext')),
  ];
}

/** An image that changed is looked at again where updates are compared. */
export function validateImage(container: Fields, at: FieldPath): FieldError[] {
  const image = asText(container['image']);
  if (image === '') return [fieldError.required(String(at.child('image')))];
  if (image.trim() === image) return [];
  return [fieldError.invalid(String(at.child('image')), image, 'must not have leading or trailing whitespace')];
}

/** Init containers end before the others start, unless they restart always: then they run beside them. */
function validateInitContainer(container: Fields, at: FieldPath): FieldError[] {
  if (container['restartPolicy'] === 'Always') return [];
  return ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe']
    .filter((field) => isSet(container[field]))
    .map((field) =>
      fieldError.forbidden(String(at.child(field)), 'may not be set for init containers without restartPolicy=Always'),
    );
}

function validatePorts(ports: unknown, at: FieldPath, names: PodNames): FieldError[] {
  return [
    ...each(ports, at, (port, portAt) => {
      const { containerPort, hostPort } = port;
      const name = asText(port['name']);
      const errors = name === '' ? [] : checked(name, portAt.child('name'), validatePortName);
      if (!containerPort) errors.push(fieldError.required(String(portAt.child('containerPort'))));
      else errors.push(...between(containerPort, portAt.child('containerPort'), 1, 65535));
      if (hostPort) {
        errors.push(...between(hostPort, portAt.child('hostPort'), 1, 65535));
        if (names.hostNetwork && hostPort !== containerPort) {
          const message = 'must match `containerPort` when `hostNetwork` is true';
          errors.push(fieldError.invalid(String(portAt.child('hostPort')), hostPort, message));
        }
      }
      return [...errors, ...oneOf(asText(port['protocol']), portAt.child('protocol'), protocols)];
    }),
    ...duplicates(
      asItems(ports),
      (port) => asText(port['name']),
      (index) => at.index(index).child('name'),
    ),
  ];
}

/** A port of the host can be taken once, whichever container asks. */
function validateHostPorts(containers: Fields[], at: FieldPath): FieldError[] {
  const taken = containers.flatMap((container, i) =>
    asItems(container['ports']).map((port, j) => ({ port, at: at.index(i).child('ports').index(j).child('hostPort') })),
  );
  const keyOf = ({ port }: { port: Fields }) =>
    port['hostPort'] ? `${asText(port['protocol'])}/${asText(port['hostIP'])}/${asNumber(port['hostPort'])}` : '';
  return duplicates(taken, keyOf, (index) => taken[index]!.at);
}

const variableSources = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef'];

function validateVariable(variable: Fields, at: FieldPath): FieldError[] {
  const errors = requiredName(asText(variable['name']), at.child('name'), validateRelaxedEnvVarName);
  if (!isSet(variable['valueFrom'])) return errors;
  const source = asFields(variable['valueFrom']);
  const sourceAt = at.child('valueFrom');
  const set = variableSources.filter((field) => isSet(source[field]));
  const refuse = (message: string) => errors.push(fieldError.invalid(String(sourceAt), '', message));
  if (set.length === 0) {
    refuse('must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`');
  } else if (asText(variable['value']) !== '') refuse('may not be specified when `value` is not empty');
  else if (set.length > 1) refuse('may not have more than one field specified at a time');
  for (const field of set) {
    const part = asFields(source[field]);
    const partAt = sourceAt.child(field);
    if (field === 'fieldRef') errors.push(...validateFieldRef(part, partAt, fieldsOfVariables));
    else if (field === 'resourceFieldRef') errors.push(...validateResourceFieldRef(part, partAt, false));
    else errors.push(...requiredName(asText(part['key']), partAt.child('key'), validateConfigKey));
  }
  return errors;
}

/** kube-apiserver names the whole list in some errors, and the entry in others. */
function validateEnvFrom(source: Fields, at: FieldPath, sourceAt: FieldPath): FieldError[] {
  const prefix = asText(source['prefix']);
  const errors = prefix === '' ? [] : checked(prefix, at.child('prefix'), validateRelaxedEnvVarName);
  const set = ['configMapRef', 'secretRef'].filter((field) => isSet(source[field]));
  if (set.length === 0)
    errors.push(fieldError.invalid(String(at), '', 'must specify one of: `configMapRef` or `secretRef`'));
  if (set.length > 1) {
    errors.push(fieldError.invalid(String(at), '', 'may not have more than one field specified at a time'));
  }
  for (const field of set) {
    const name = asText(asFields(source[field])['name']);
    errors.push(...requiredName(name, sourceAt.child(field, 'name'), validateDnsSubdomain));
  }
  return errors;
}

function validateMounts(container: Fields, at: FieldPath, names: PodNames): FieldError[] {
  const mounts = asItems(container['volumeMounts']);
  const mountsAt = at.child('volumeMounts');
  const isPrivileged = asFields(container['securityContext'])['privileged'] === true;
  const paths = new Set<string>();
  return [
    ...each(mounts, mountsAt, (mount, mountAt) => {
      const { name, mountPath, subPath, subPathExpr } = mount;
      const errors: FieldError[] = [];
      if (asText(name) === '') errors.push(fieldError.required(String(mountAt.child('name'))));
      else if (!names.volumes.has(asText(name))) errors.push(fieldError.notFound(String(mountAt.child('name')), name));
      if (asText(mountPath) === '') errors.push(fieldError.required(String(mountAt.child('mountPath'))));
      if (paths.has(asText(mountPath))) {
        errors.push(fieldError.invalid(String(mountAt.child('mountPath')), mountPath, 'must be unique'));
      }
      paths.add(asText(mountPath));
      errors.push(...isFilePath(asText(subPath), mountsAt.child('subPath')));
      errors.push(...isFilePath(asText(subPathExpr), mountsAt.child('subPathExpr')));
      if (asText(subPath) !== '' && asText(subPathExpr) !== '') {
        const message = 'subPathExpr and subPath are mutually exclusive';
        errors.push(fieldError.invalid(String(mountAt.child('subPathExpr')), subPathExpr, message));
      }
      return [
        ...errors,
        ...validatePropagation(mount['mountPropagation'], mountsAt.child('mountPropagation'), isPrivileged),
      ];
    }),
    ...validateDevices(container, at, names, paths),
  ];
}

function validatePropagation(propagation: unknown, at: FieldPath, isPrivileged: boolean): FieldError[] {
  if (propagation === 'Bidirectional' && !isPrivileged) {
    const message = 'Bidirectional mount propagation is available only to privileged containers';
    return [fieldError.forbidden(String(at), message)];
  }
  return oneOf(propagation, at, ['Bidirectional', 'HostToContainer', 'None']);
}

function validateDevices(
  container: Fields,
  at: FieldPath,
  names: PodNames,
  mounted: ReadonlySet<string>,
): FieldError[] {
  return each(container['volumeDevices'], at.child('volumeDevices'), (device, deviceAt) => {
    const { name, devicePath } = device;
    const volume = names.volumes.get(asText(name));
    const errors: FieldError[] = [];
    if (asText(name) === '') errors.push(fieldError.required(String(deviceAt.child('name'))));
    else if (!volume) errors.push(fieldError.notFound(String(deviceAt.child('name')), name));
    else if (!isSet(volume['persistentVolumeClaim']) && !isSet(volume['ephemeral'])) {
      const message = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode';
      errors.push(fieldError.invalid(String(deviceAt.child('name')), name, message));
    }
    if (asText(devicePath) === '') errors.push(fieldError.required(String(deviceAt.child('devicePath'))));
    else if (mounted.has(asText(devicePath))) {
      const message = 'must not already exist in volumeMounts';
      errors.push(fieldError.invalid(String(deviceAt.child('devicePath')), devicePath, message));
    }
    return errors;
  });
}

function validateResizePolicy(policies: unknown, at: FieldPath): FieldError[] {
  return [
    ...each(policies, at, (policy) => [
      ...oneOf(asText(policy['resourceName']), at, ['cpu', 'memory']),
      ...oneOf(asText(policy['restartPolicy']), at, ['NotRequired', 'RestartContainer']),
    ]),
    ...duplicates(
      asItems(policies),
      (policy) => asText(policy['resourceName']),
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
];

/** Containers added to a running pod to look into it: they promise nothing, so they may ask for nothing. */
export function validateEphemeralContainers(spec: Fields, at: FieldPath, names: PodNames): FieldError[] {
  const others = [...asItems(spec['containers']), ...asItems(spec['initContainers'])].map((it) => asText(it['name']));
  const taken = new Set(others);
  const list = asItems(spec['ephemeralContainers']);
  const isAgain = repeatedValues([...taken, ...list.map((container) => asText(container['name']))]).slice(taken.size);
  const listAt = at.child('ephemeralContainers');
  return [
    ...each(list, listAt, (container, itemAt) => {
      const target = asText(container['targetContainerName']);
      const errors = validateContainerCommon(container, itemAt, names);
      if (target !== '' && !taken.has(target)) {
        errors.push(fieldError.notFound(String(itemAt.child('targetContainerName')), target));
      }
      const asksFor = Object.keys(asFields(container['resources'])).length > 0 ? ['resources'] : [];
      for (const field of [...notForEphemeral.filter((name) => isSet(container[name])), ...asksFor]) {
        errors.push(fieldError.forbidden(String(itemAt.child(field)), 'cannot be set for an Ephemeral Container'));
      }
      return errors;
    }),
    // What the others share among themselves is not said twice.
    ...list.flatMap((container, index) => {
      const name = asText(container['name']);
      return name !== '' && isAgain[index]
        ? [fieldError.duplicate(String(listAt.index(index).child('name')), name)]
        : [];
    }),
  ];
}

import type {
  Container,
  ContainerPort,
  EnvVar,
  Pod,
  PodSpec,
  ProjectedVolumeSource,
  ResourceRequirements,
} from '../../../catalog/types/core.v1.js';
import { isSet } from '../../../machinery/fields.js';
import { validateDnsLabel } from '../../../machinery/names.js';
import { isWhole } from './pod-resources.js';

const deprecatedSources = {
  gitRepo: 'deprecated in v1.11, and disabled by default in v1.33+',
  scaleIO: 'deprecated in v1.16, non-functional in v1.22+',
  flocker: 'deprecated in v1.22, non-functional in v1.25+',
  storageos: 'deprecated in v1.22, non-functional in v1.25+',
  quobyte: 'deprecated in v1.22, non-functional in v1.25+',
  photonPersistentDisk: 'deprecated in v1.11, non-functional in v1.16+',
  glusterfs: 'deprecated in v1.25, non-functional in v1.26+',
  cephfs: 'deprecated in v1.28, non-functional in v1.31+',
  rbd: 'deprecated in v1.28, non-functional in v1.31+',
} as const;

type DeprecatedSource = keyof typeof deprecatedSources;
const deprecatedNames = Object.keys(deprecatedSources) as DeprecatedSource[];

/** Returns a warning for each deprecated source that a volume or a PersistentVolume has. */
export function volumeSourceWarnings(sources: { readonly [Name in DeprecatedSource]?: unknown }, at: string): string[] {
  return deprecatedNames
    .filter((name) => isSet(sources[name]))
    .map((name) => `${at}.${name}: ${deprecatedSources[name]}`);
}

/** Returns the warnings about a new Pod. Updates have none. */
export function podWarnings({ metadata, spec = {} }: Pod, old: Pod | undefined): string[] {
  if (old) return [];
  const texts = podSpecWarnings(spec, 'spec');
  const problems = validateDnsLabel(metadata.name ?? '');
  if (problems.length > 0 && !spec.hostname) {
    texts.push(
      `metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [${problems.join(', ')}]`,
    );
  }
  return texts;
}

/** Returns the warnings about the spec of a Pod or of a Pod template. */
export function podSpecWarnings(spec: PodSpec, at: string): string[] {
  const texts: string[] = [];
  for (const [index, { name = '', ...sources }] of (spec.volumes ?? []).entries()) {
    texts.push(...volumeSourceWarnings(sources, `${at}.volumes[${index}]`));
    if (sources.projected && !hasSource(sources.projected)) {
      texts.push(`volume "${name}" (Projected) has no sources provided`);
    }
  }
  for (const list of ['initContainers', 'containers'] as const) {
    for (const [index, container] of (spec[list] ?? []).entries()) {
      texts.push(...containerWarnings(container, `${at}.${list}[${index}]`));
    }
  }
  return texts;
}

const hasSource = ({ sources }: ProjectedVolumeSource): boolean =>
  (sources ?? []).some((source) => Object.values(source).some(isSet));

function containerWarnings({ resources = {}, ports = [], env = [] }: Container, at: string): string[] {
  return [...fractionWarnings(resources, at), ...duplicatePortWarnings(ports, at), ...duplicateEnvWarnings(env, at)];
}

function fractionWarnings(resources: ResourceRequirements, at: string): string[] {
  return (['limits', 'requests'] as const).flatMap((field) =>
    ['memory', 'ephemeral-storage'].flatMap((name) => {
      const amount = resources[field]?.[name];
      if (amount === undefined || isWhole(amount)) return [];
      return [`${at}.resources.${field}[${name}]: fractional byte value "${amount}" is invalid, must be an integer`];
    }),
  );
}

function duplicatePortWarnings(ports: readonly ContainerPort[], at: string): string[] {
  const firstIndexes = new Map<string, number>();
  return ports.flatMap(({ protocol = '', hostIP = '', hostPort = 0, containerPort = 0 }, index) => {
    const key = `${protocol}/${hostIP}/${hostPort}/${containerPort}`;
    const first = firstIndexes.get(key);
    if (first !== undefined) return [`${at}.ports[${index}]: duplicate port definition with ${at}.ports[${first}]`];
    firstIndexes.set(key, index);
    return [];
  });
}

function duplicateEnvWarnings(variables: readonly EnvVar[], at: string): string[] {
  const names = new Set<string>();
  return variables.flatMap(({ name = '' }, index) => {
    if (names.has(name)) {
      return [`${at}.env[${index}]: hides previous definition of "${name}", which may be dropped when using apply`];
    }
    names.add(name);
    return [];
  });
}

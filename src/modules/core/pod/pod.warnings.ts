import { asFields, asItems, asNumber, asText, isSet, type Fields } from '../../../machinery/fields.js';
import type { KubeObject } from '../../../machinery/kube-object.js';
import { validateDnsLabel } from '../../../machinery/names.js';
import { isWhole } from './pod-resources.js';

export const goneVolumes: Readonly<Record<string, string>> = {
  gitRepo: 'deprecated in v1.11, and disabled by default in v1.33+',
  scaleIO: 'deprecated in v1.16, non-functional in v1.22+',
  flocker: 'deprecated in v1.22, non-functional in v1.25+',
  storageos: 'deprecated in v1.22, non-functional in v1.25+',
  quobyte: 'deprecated in v1.22, non-functional in v1.25+',
  photonPersistentDisk: 'deprecated in v1.11, non-functional in v1.16+',
  glusterfs: 'deprecated in v1.25, non-functional in v1.26+',
  cephfs: 'deprecated in v1.28, non-functional in v1.31+',
  rbd: 'deprecated in v1.28, non-functional in v1.31+',
};

/** What is accepted, but hardly meant. Nothing is said again about a pod that only changes. */
export function podWarnings(pod: KubeObject, old: KubeObject | undefined): string[] {
  if (old !== undefined) return [];
  const spec = asFields(pod['spec']);
  const texts = podSpecWarnings(spec, 'spec');
  const problems = validateDnsLabel(pod.metadata.name ?? '');
  if (problems.length > 0 && asText(spec['hostname']) === '') {
    texts.push(
      `metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [${problems.join(', ')}]`,
    );
  }
  return texts;
}

/** Also for the templates of workloads. */
export function podSpecWarnings(spec: Fields, at: string): string[] {
  const texts: string[] = [];
  for (const [index, volume] of asItems(spec['volumes']).entries()) {
    for (const source of Object.keys(goneVolumes)) {
      if (isSet(volume[source])) texts.push(`${at}.volumes[${index}].${source}: ${goneVolumes[source]}`);
    }
    const { sources } = asFields(volume['projected']);
    if (
      isSet(volume['projected']) &&
      asItems(sources).every((source) => Object.values(source).every((it) => !isSet(it)))
    ) {
      texts.push(`volume "${asText(volume['name'])}" (Projected) has no sources provided`);
    }
  }
  for (const list of ['initContainers', 'containers']) {
    for (const [index, container] of asItems(spec[list]).entries()) {
      texts.push(...containerWarnings(container, `${at}.${list}[${index}]`));
    }
  }
  return texts;
}

function containerWarnings(container: Fields, at: string): string[] {
  const texts: string[] = [];
  const resources = asFields(container['resources']);
  for (const kind of ['limits', 'requests']) {
    for (const name of ['memory', 'ephemeral-storage']) {
      const amount = asFields(resources[kind])[name];
      if (isSet(amount) && !isWhole(amount)) {
        texts.push(
          `${at}.resources.${kind}[${name}]: fractional byte value "${String(amount)}" is invalid, must be an integer`,
        );
      }
    }
  }
  const ports = new Map<string, number>();
  for (const [index, port] of asItems(container['ports']).entries()) {
    const key = `${asText(port['protocol'])}/${asText(port['hostIP'])}/${asNumber(port['hostPort'])}/${asNumber(port['containerPort'])}`;
    const first = ports.get(key);
    if (first === undefined) ports.set(key, index);
    else texts.push(`${at}.ports[${index}]: duplicate port definition with ${at}.ports[${first}]`);
  }
  const variables = new Set<string>();
  for (const [index, variable] of asItems(container['env']).entries()) {
    const name = asText(variable['name']);
    if (variables.has(name)) {
      texts.push(`${at}.env[${index}]: hides previous definition of "${name}", which may be dropped when using apply`);
    }
    variables.add(name);
  }
  return texts;
}

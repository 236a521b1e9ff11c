import type { Container, ObjectReference, PodSpec, ServiceAccount } from '../../catalog/types/core.v1.js';
import { containersOf } from '../../pods/containers.js';

/**
 * Returns the error if the Pod refers to a Secret that its service account does not list. With `onlyEphemeral`, checks
 * ephemeral containers alone.
 */
export function refusedReference(spec: PodSpec, account: ServiceAccount, onlyEphemeral: boolean): string | undefined {
  const who = `is not allowed because service account ${account.metadata.name} does not reference that`;
  const mountable = namesIn(account.secrets);
  const refusedIn = (list: 'ephemeralContainers' | 'initContainers' | 'containers', what: string) =>
    refusedInContainers(containersOf(spec, [list]), what, mountable, `${who} secret`);
  if (onlyEphemeral) return refusedIn('ephemeralContainers', 'ephemeral container');
  for (const { secret } of spec.volumes ?? []) {
    const name = secret?.secretName ?? '';
    if (name !== '' && !mountable.has(name)) return `volume with secret.secretName="${name}" ${who} secret`;
  }
  const inContainers = refusedIn('initContainers', 'init container') ?? refusedIn('containers', 'container');
  if (inContainers !== undefined) return inContainers;
  const pullable = namesIn(account.imagePullSecrets);
  for (const [index, { name = '' }] of (spec.imagePullSecrets ?? []).entries()) {
    if (!pullable.has(name)) return `imagePullSecrets[${index}].name="${name}" ${who} imagePullSecret`;
  }
  return undefined;
}

function refusedInContainers(
  containers: readonly Container[],
  what: string,
  mountable: Set<string>,
  who: string,
): string | undefined {
  for (const { name: container = '', env = [], envFrom = [] } of containers) {
    for (const variable of env) {
      const name = variable.valueFrom?.secretKeyRef?.name ?? '';
      if (name !== '' && !mountable.has(name)) {
        return `${what} ${container} with envVar ${variable.name ?? ''} referencing secret.secretName="${name}" ${who}`;
      }
    }
    for (const { secretRef } of envFrom) {
      const name = secretRef?.name ?? '';
      if (name !== '' && !mountable.has(name)) {
        return `${what} ${container} with envFrom referencing secret.secretName="${name}" ${who}`;
      }
    }
  }
  return undefined;
}

function namesIn(references: readonly Pick<ObjectReference, 'name'>[] = []): Set<string> {
  return new Set(references.map(({ name = '' }) => name));
}

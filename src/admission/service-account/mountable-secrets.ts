import { asFields, asItems, asText, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';

/** Why the Pod may not use a secret that its account does not list, if it does. Of a debugged Pod, the new containers count. */
export function refusedReference(spec: Fields, account: KubeObject, onlyEphemeral: boolean): string | undefined {
  const who = `is not allowed because service account ${account.metadata.name} does not reference that`;
  const mountable = namesIn(account['secrets']);
  if (onlyEphemeral) return refusedIn(spec['ephemeralContainers'], 'ephemeral container', mountable, `${who} secret`);
  for (const volume of asItems(spec['volumes'])) {
    const name = asText(asFields(volume['secret'])['secretName']);
    if (name !== '' && !mountable.has(name)) return `volume with secret.secretName="${name}" ${who} secret`;
  }
  const inContainers =
    refusedIn(spec['initContainers'], 'init container', mountable, `${who} secret`) ??
    refusedIn(spec['containers'], 'container', mountable, `${who} secret`);
  if (inContainers !== undefined) return inContainers;
  const pullable = namesIn(account['imagePullSecrets']);
  for (const [index, { name }] of asItems(spec['imagePullSecrets']).entries()) {
    if (!pullable.has(asText(name))) return `imagePullSecrets[${index}].name="${asText(name)}" ${who} imagePullSecret`;
  }
  return undefined;
}

function refusedIn(containers: unknown, what: string, mountable: Set<string>, who: string): string | undefined {
  for (const container of asItems(containers)) {
    for (const variable of asItems(container['env'])) {
      const name = asText(asFields(asFields(variable['valueFrom'])['secretKeyRef'])['name']);
      if (name !== '' && !mountable.has(name)) {
        return `${what} ${asText(container['name'])} with envVar ${asText(variable['name'])} referencing secret.secretName="${name}" ${who}`;
      }
    }
    for (const { secretRef } of asItems(container['envFrom'])) {
      const name = asText(asFields(secretRef)['name']);
      if (name !== '' && !mountable.has(name)) {
        return `${what} ${asText(container['name'])} with envFrom referencing secret.secretName="${name}" ${who}`;
      }
    }
  }
  return undefined;
}

function namesIn(references: unknown): Set<string> {
  return new Set(asItems(references).map(({ name }) => asText(name)));
}

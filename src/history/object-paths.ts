import { ClientError } from '../kubeconfig-client/client-error.js';
import type { KubeconfigClient } from '../kubeconfig-client/kubeconfig-client.js';
import { collectionPath, ServedKinds, type ServedKind } from '../kubeconfig-client/served-kinds.js';
import { asFields, asText, type Fields } from '../machinery/fields.js';
import { sleep, systemClock } from '../std/clock.js';

/** Custom kinds are usually served some milliseconds after their definition. */
const pollMs = 50;
const servedMsMax = 15_000;

export const namespaceOf = (object: Fields): string => asText(asFields(object['metadata'])['namespace']);

export function pathOf(kind: ServedKind, object: Fields): string {
  const name = asText(asFields(object['metadata'])['name']);
  return `${collectionPath(kind, namespaceOf(object))}/${encodeURIComponent(name)}`;
}

/** Finds the kinds of objects, and waits until a custom kind is served whose definition has just been written. */
export class SoonServedKinds {
  private readonly kinds: ServedKinds;

  constructor(client: KubeconfigClient) {
    this.kinds = new ServedKinds(client);
  }

  async of(object: Fields): Promise<ServedKind> {
    const deadlineMs = systemClock.monotonicMs() + servedMsMax;
    for (;;) {
      try {
        return await this.kinds.of(object);
      } catch (error) {
        if (!(error instanceof ClientError) || systemClock.monotonicMs() > deadlineMs) throw error;
        this.kinds.forget();
        await sleep(systemClock, pollMs);
      }
    }
  }
}

/** A field selector of one object. Names of RBAC objects may have the characters that separate selectors. */
export const selectorOf = (name: string): string => `metadata.name=${name.replace(/[\\,=]/g, '\\$&')}`;

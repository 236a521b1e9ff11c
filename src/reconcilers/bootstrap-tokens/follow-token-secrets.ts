import { bootstrapTokenType } from '../../auth/bootstrap-tokens.js';
import type { EncodedObject } from '../../cache/encoded-object.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import type { ServedResource } from '../../registry/resource-registry.js';

/** Returns a function that is true for readable Secrets of bootstrap tokens in the system namespace. */
export function tokenSecretFilter(naming: NamingProfile): (secret: EncodedObject | undefined) => boolean {
  const namespace = naming.systemNamespace('system');
  const type = bootstrapTokenType(naming);
  return (secret) => secret?.attributes.namespace === namespace && secret.attributes.fields['type'] === type;
}

/**
 * Calls `changed` with the name of each bootstrap token Secret, and for each change and deletion of one. Returns a
 * function that ends it.
 */
export function followTokenSecrets(
  { store }: ServedResource,
  naming: NamingProfile,
  changed: (name: string) => void,
): () => void {
  const isToken = tokenSecretFilter(naming);
  return store.cache.observe({
    changed({ current, previous }) {
      if (isToken(current) || isToken(previous)) changed((current ?? previous)!.attributes.name);
    },
    reset() {
      for (const secret of store.cache.snapshot().range(store.scopeOf(naming.systemNamespace('system')))) {
        if (isToken(secret)) changed(secret.attributes.name);
      }
    },
  });
}

import type { NamingProfile } from '../../config/naming-profile.js';
import { asItems, asText, type Fields } from '../../machinery/fields.js';
import { generateName } from '../../registry/write/system-fields.js';
import type { Rng } from '../../std/rng.js';
import { containersOf } from '../pods/containers.js';

export interface TokenMount {
  /** `kube-api-access-`: the beginning of the volume's name. */
  readonly volumeBase: string;
  readonly mountPath: string;
  readonly rootCertificates: string;
}

export function tokenMountOf(naming: NamingProfile): TokenMount {
  return {
    volumeBase: `${naming.systemName('api-access')}-`,
    mountPath: `/var/run/secrets/${naming.label('serviceaccount')}`,
    rootCertificates: naming.systemName('root-ca.crt'),
  };
}

/** An hour, and a few seconds by which tokens that were made so can be told from those somebody asked for. */
const lifetimeSeconds = 3607;

/** Shows the account's token, whom to trust, and the namespace, to every container that keeps nothing of its own there. */
export function mountToken(spec: Fields, { volumeBase, mountPath, rootCertificates }: TokenMount, rng: Rng): void {
  const volumes = asItems(spec['volumes']);
  const existing = volumes.map(({ name }) => asText(name)).find((name) => name.startsWith(volumeBase));
  const name = existing ?? generateName(volumeBase, rng);
  let isMounted = false;
  for (const container of containersOf(spec, ['initContainers', 'containers'])) {
    const mounts = asItems(container['volumeMounts']);
    if (mounts.some((mount) => mount['mountPath'] === mountPath)) continue;
    container['volumeMounts'] = [...mounts, { name, readOnly: true, mountPath }];
    isMounted = true;
  }
  if (!isMounted || existing !== undefined) return;
  spec['volumes'] = [...volumes, { name, projected: projection(rootCertificates) }];
}

function projection(rootCertificates: string) {
  return {
    sources: [
      { serviceAccountToken: { expirationSeconds: lifetimeSeconds, path: 'token' } },
      { configMap: { name: rootCertificates, items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      {
        downwardAPI: {
          items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
        },
      },
    ],
    defaultMode: 0o644,
  };
}

import type { PodSpec, ProjectedVolumeSource } from '../../catalog/types/core.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import type { Mutable } from '../../machinery/mutable.js';
import { generateName } from '../../registry/write/system-fields.js';
import type { Rng } from '../../std/rng.js';
import { containersOf } from '../../pods/containers.js';

interface TokenMount {
  /** Prefix of the name of the volume: `kube-api-access-`. */
  readonly volumeBase: string;
  readonly mountPath: string;
  /** Name of the ConfigMap with the CA bundle of the server. */
  readonly rootCertificates: string;
}

export function tokenMountOf(naming: NamingProfile): TokenMount {
  return {
    volumeBase: `${naming.systemName('api-access')}-`,
    mountPath: `/var/run/secrets/${naming.label('serviceaccount')}`,
    rootCertificates: naming.systemName('root-ca.crt'),
  };
}

/** One hour and 7 seconds: the odd number tells tokens of this volume from tokens that users request. */
const lifetimeSeconds = 3607;

/** Mounts token, CA bundle and namespace into each container that has no mount of its own at the path. */
export function mountToken(
  spec: Mutable<PodSpec>,
  { volumeBase, mountPath, rootCertificates }: TokenMount,
  rng: Rng,
): void {
  const { volumes = [] } = spec;
  const existing = volumes.map((volume) => volume.name ?? '').find((name) => name.startsWith(volumeBase));
  const name = existing ?? generateName(volumeBase, rng);
  let isMounted = false;
  for (const container of containersOf(spec, ['initContainers', 'containers'])) {
    const { volumeMounts = [] } = container;
    if (volumeMounts.some((mount) => mount.mountPath === mountPath)) continue;
    container.volumeMounts = [...volumeMounts, { name, readOnly: true, mountPath }];
    isMounted = true;
  }
  if (!isMounted || existing !== undefined) return;
  spec.volumes = [...volumes, { name, projected: projection(rootCertificates) }];
}

function projection(rootCertificates: string): Mutable<ProjectedVolumeSource> {
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

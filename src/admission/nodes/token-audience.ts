import type { TokenRequest } from '../../catalog/types/authentication.v1.js';
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeSpec,
  Pod,
  Volume,
} from '../../catalog/types/core.v1.js';
import type { CSIDriver } from '../../catalog/types/storage.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import type { AdmissionAttributes } from '../admission-plugin.js';
import { find, type ObjectReader } from '../object-reader.js';
import type { Permission } from '../plugin-dependencies.js';

interface Dependencies {
  readonly objects: ObjectReader;
  readonly naming: NamingProfile;
  readonly mayDo: (permission: Permission) => Promise<boolean>;
}

/** CSI drivers that serve volume sources of the core API (CSI migration). */
const migratedDrivers: readonly (readonly [source: keyof Volume & keyof PersistentVolumeSpec, driver: string])[] = [
  ['awsElasticBlockStore', 'ebs.csi.aws.com'],
  ['azureDisk', 'disk.csi.azure.com'],
  ['azureFile', 'file.csi.azure.com'],
  ['cinder', 'cinder.csi.openstack.org'],
  ['gcePersistentDisk', 'pd.csi.storage.gke.io'],
  ['portworxVolume', 'pxd.portworx.com'],
  ['vsphereVolume', 'csi.vsphere.vmware.com'],
];

/**
 * Returns the error if the node may not request a token of this audience: neither a projected volume of the Pod nor a
 * CSI driver of its volumes uses the audience, and the node has no permission for it (KEP-4935).
 */
export async function audienceProblem(
  dependencies: Dependencies,
  attributes: AdmissionAttributes,
  pod: Pod,
): Promise<string | undefined> {
  const { request, namespace, name, object } = attributes;
  const tokenRequest: TokenRequest | undefined = object;
  const audiences = tokenRequest?.spec?.audiences ?? [];
  if (audiences.length > 1) return 'node may only request 0 or 1 audiences';
  const [audience = ''] = audiences;
  for (const volume of pod.spec?.volumes ?? []) {
    if (await usesAudience(dependencies, attributes, pod, volume, audience)) return undefined;
  }
  const verb = 'request-serviceaccounts-token-audience';
  const permission = { user: request.user, verb, group: '', resource: audience, namespace, name };
  if (await dependencies.mayDo(permission)) return undefined;
  return `audience "${audience}" not found in pod spec volume, ${request.user.name} is not authorized to request tokens for this audience`;
}

async function usesAudience(
  { objects, naming }: Dependencies,
  { request, namespace }: AdmissionAttributes,
  pod: Pod,
  volume: Volume,
  audience: string,
): Promise<boolean> {
  const tokens = (volume.projected?.sources ?? []).flatMap(({ serviceAccountToken }) => serviceAccountToken ?? []);
  if (tokens.some((token) => (token.audience ?? '') === audience)) return true;
  const claimName = claimOf(pod, volume);
  let driver = driverOf(volume);
  if (claimName !== undefined) {
    const claims = { group: '', resource: 'persistentvolumeclaims' };
    const claim: PersistentVolumeClaim | undefined = await find(objects, claims, namespace, claimName, request.signal);
    const volumeName = claim?.spec?.volumeName;
    const volumes = { group: '', resource: 'persistentvolumes' };
    const bound: PersistentVolume | undefined = volumeName
      ? await find(objects, volumes, '', volumeName, request.signal)
      : undefined;
    driver = driverOf(bound?.spec ?? {});
  }
  if (driver === undefined) return false;
  const drivers = { group: naming.group('storage'), resource: 'csidrivers' };
  const found: CSIDriver | undefined = await find(objects, drivers, '', driver, request.signal);
  return (found?.spec?.tokenRequests ?? []).some((token) => (token.audience ?? '') === audience);
}

function claimOf({ metadata }: Pod, { name = '', ephemeral, persistentVolumeClaim }: Volume): string | undefined {
  if (ephemeral?.volumeClaimTemplate !== undefined) return `${metadata.name ?? ''}-${name}`;
  return persistentVolumeClaim?.claimName;
}

function driverOf(source: Volume | PersistentVolumeSpec): string | undefined {
  if (source.csi?.driver) return source.csi.driver;
  return migratedDrivers.find(([name]) => source[name] !== undefined)?.[1];
}

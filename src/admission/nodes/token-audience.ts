import { asFields, asItems, asText, asTexts, isSet, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import type { AdmissionAttributes } from '../admission-plugin.js';
import { find, type ObjectReader } from '../object-reader.js';
import type { WantedRight } from '../plugin-dependencies.js';

interface Parts {
  readonly objects: ObjectReader;
  readonly naming: NamingProfile;
  readonly mayDo: (right: WantedRight) => Promise<boolean>;
}

/** CSI drivers that have taken over volumes of the core API. */
const migratedDrivers: Readonly<Record<string, string>> = {
  awsElasticBlockStore: 'ebs.csi.aws.com',
  azureDisk: 'disk.csi.azure.com',
  azureFile: 'file.csi.azure.com',
  cinder: 'cinder.csi.openstack.org',
  gcePersistentDisk: 'pd.csi.storage.gke.io',
  portworxVolume: 'pxd.portworx.com',
  vsphereVolume: 'csi.vsphere.vmware.com',
};

/**
 * Why a node may not have a token of the audience that it asks for: neither a projected volume of the Pod nor a CSI
 * driver of its volumes wants it, and the node has no right to it (KEP-4935).
 */
export async function audienceProblem(
  parts: Parts,
  attributes: AdmissionAttributes,
  pod: KubeObject,
): Promise<string | undefined> {
  const { request, namespace, name, object } = attributes;
  const audiences = asTexts(asFields(object?.['spec'])['audiences']);
  if (audiences.length > 1) return 'node may only request 0 or 1 audiences';
  const [audience = ''] = audiences;
  for (const volume of asItems(asFields(pod['spec'])['volumes'])) {
    if (await wantsAudience(parts, attributes, pod, volume, audience)) return undefined;
  }
  const verb = 'request-serviceaccounts-token-audience';
  if (await parts.mayDo({ user: request.user, verb, group: '', resource: audience, namespace, name })) return undefined;
  return `audience "${audience}" not found in pod spec volume, ${request.user.name} is not authorized to request tokens for this audience`;
}

async function wantsAudience(
  { objects, naming }: Parts,
  { request, namespace }: AdmissionAttributes,
  pod: KubeObject,
  volume: Fields,
  audience: string,
): Promise<boolean> {
  const tokens = asItems(asFields(volume['projected'])['sources']).filter((source) =>
    isSet(source['serviceAccountToken']),
  );
  if (tokens.some((source) => asText(asFields(source['serviceAccountToken'])['audience']) === audience)) return true;
  const claimName = claimOf(pod, volume);
  let driver = driverIn(volume);
  if (claimName !== undefined) {
    const claims = { group: '', resource: 'persistentvolumeclaims' };
    const claim = await find(objects, claims, namespace, claimName, request.signal);
    const volumeName = asText(asFields(claim?.['spec'])['volumeName']);
    const volumes = { group: '', resource: 'persistentvolumes' };
    const bound = volumeName === '' ? undefined : await find(objects, volumes, '', volumeName, request.signal);
    driver = driverIn(asFields(bound?.['spec']));
  }
  if (driver === undefined) return false;
  const drivers = { group: naming.group('storage'), resource: 'csidrivers' };
  const found = await find(objects, drivers, '', driver, request.signal);
  const wanted = asItems(asFields(found?.['spec'])['tokenRequests']);
  return wanted.some((token) => asText(token['audience']) === audience);
}

function claimOf(pod: KubeObject, volume: Fields): string | undefined {
  if (isSet(asFields(volume['ephemeral'])['volumeClaimTemplate'])) {
    return `${pod.metadata.name ?? ''}-${asText(volume['name'])}`;
  }
  const { claimName } = asFields(volume['persistentVolumeClaim']);
  return isSet(claimName) ? asText(claimName) : undefined;
}

function driverIn(source: Fields): string | undefined {
  const driver = asText(asFields(source['csi'])['driver']);
  if (driver !== '') return driver;
  const migrated = Object.keys(migratedDrivers).find((name) => isSet(source[name]));
  return migrated === undefined ? undefined : migratedDrivers[migrated];
}

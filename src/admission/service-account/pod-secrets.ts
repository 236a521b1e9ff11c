import { asFields, asItems, asText, type Fields } from '../../machinery/fields.js';
import { containersOf } from '../pods/containers.js';

/** Volume sources that name a secret to reach their storage with: source → the field that is the reference. */
const volumeReferences: Readonly<Record<string, string>> = {
  cephfs: 'secretRef',
  cinder: 'secretRef',
  flexVolume: 'secretRef',
  rbd: 'secretRef',
  scaleIO: 'secretRef',
  iscsi: 'secretRef',
  storageos: 'secretRef',
  csi: 'nodePublishSecretRef',
};

/** All secrets that a Pod asks for, whatever for. */
export function podSecretNames(spec: Fields): string[] {
  const names = [
    ...asItems(spec['imagePullSecrets']).map(({ name }) => asText(name)),
    ...containersOf(spec).flatMap((container) => [
      ...asItems(container['envFrom']).map(({ secretRef }) => asText(asFields(secretRef)['name'])),
      ...asItems(container['env']).map(({ valueFrom }) =>
        asText(asFields(asFields(valueFrom)['secretKeyRef'])['name']),
      ),
    ]),
    ...asItems(spec['volumes']).flatMap(secretsOfVolume),
  ];
  return names.filter((name) => name !== '');
}

function secretsOfVolume(volume: Fields): string[] {
  return [
    asText(asFields(volume['secret'])['secretName']),
    asText(asFields(volume['azureFile'])['secretName']),
    ...asItems(asFields(volume['projected'])['sources']).map(({ secret }) => asText(asFields(secret)['name'])),
    ...Object.entries(volumeReferences).map(([source, field]) =>
      asText(asFields(asFields(volume[source])[field])['name']),
    ),
  ];
}

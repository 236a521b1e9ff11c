import { groupOf } from '../kubeconfig-client/served-kinds.js';
import { asText, type Fields } from '../machinery/fields.js';

/** `Deployment.apps`, or `Pod` in the core group: the same for all versions, and different for custom kinds of the same name. */
export function kindName(apiVersion: string, kind: string): string {
  const group = apiVersion.includes('/') ? groupOf(`/apis/${apiVersion}`) : '';
  return group === '' ? kind : `${kind}.${group}`;
}

export const kindOf = (object: Fields): string => kindName(asText(object['apiVersion']), asText(object['kind']));

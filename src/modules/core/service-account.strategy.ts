import { asItems, isSet } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';

export const serviceAccountStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  prepareForCreate: keepSecretNames,
  prepareForUpdate: keepSecretNames,
};

/** References to secrets are names in the account's own namespace; the rest of a reference would only mislead. */
function keepSecretNames(account: KubeObject): void {
  if (isSet(account['secrets'])) account['secrets'] = asItems(account['secrets']).map(({ name }) => ({ name }));
}

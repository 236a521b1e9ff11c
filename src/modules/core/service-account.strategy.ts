import type { ServiceAccount } from '../../catalog/types/core.v1.js';
import type { Mutable } from '../../machinery/mutable.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';

export const serviceAccountStrategy: Strategy<ServiceAccount> = {
  validateName: nameIsDnsSubdomain,
  prepareForCreate: keepSecretNames,
  prepareForUpdate: keepSecretNames,
};

/** Keeps only the names of references to Secrets, which must be in the namespace of the ServiceAccount. */
function keepSecretNames(account: Mutable<ServiceAccount>): void {
  if (account.secrets) account.secrets = account.secrets.map(({ name }) => ({ name }));
}

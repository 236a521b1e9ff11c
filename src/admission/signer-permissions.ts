import type { NamingProfile } from '../config/naming-profile.js';
import type { AdmissionAttributes } from './admission-plugin.js';
import type { PluginDependencies } from './plugin-dependencies.js';

type SignerVerb = 'approve' | 'sign' | 'attest';

/**
 * True if the user has the verb on the signer. Signers are not stored objects: roles name them, either one signer or, with
 * `<domain>/*`, all signers of a domain.
 */
export async function mayActFor(
  { mayDo, naming }: Pick<PluginDependencies, 'mayDo'> & { readonly naming: NamingProfile },
  { request }: AdmissionAttributes,
  verb: SignerVerb,
  signerName: string,
): Promise<boolean> {
  const permission = { user: request.user, verb, group: naming.group('certificates'), resource: 'signers' };
  if (await mayDo({ ...permission, name: signerName })) return true;
  const slash = signerName.indexOf('/');
  return slash >= 0 && (await mayDo({ ...permission, name: `${signerName.slice(0, slash)}/*` }));
}

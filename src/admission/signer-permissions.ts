import type { NamingProfile } from '../config/naming-profile.js';
import type { AdmissionAttributes } from './admission-plugin.js';
import type { PluginParts } from './plugin-dependencies.js';

type SignerVerb = 'approve' | 'sign' | 'attest';

/** Signers are no objects, but rights are given by their names: by one, or by `<domain>/*` for all of a domain. */
export async function mayActFor(
  { mayDo, naming }: Pick<PluginParts, 'mayDo'> & { readonly naming: NamingProfile },
  { request }: AdmissionAttributes,
  verb: SignerVerb,
  signerName: string,
): Promise<boolean> {
  const right = { user: request.user, verb, group: naming.group('certificates'), resource: 'signers' };
  if (await mayDo({ ...right, name: signerName })) return true;
  const slash = signerName.indexOf('/');
  return slash >= 0 && (await mayDo({ ...right, name: `${signerName.slice(0, slash)}/*` }));
}

import type { RequestedCertificate } from '../../certificates/requested-certificate.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { groupNames, privilegedGroup } from '../../machinery/user-info.js';

/** The built-in signers. Each has its own rules and may have its own CA. */
export const signers = ['apiServerClient', 'kubeletClient', 'kubeletServing', 'legacyUnknown'] as const;
export type SignerKind = (typeof signers)[number];

/** Returns the built-in signer of this name, undefined if there is none. */
export function signerKindOf(signerName: string, naming: NamingProfile): SignerKind | undefined {
  return signers.find((kind) => signerNames(naming)[kind] === signerName);
}

export function signerNames(naming: NamingProfile): Record<SignerKind, string> {
  return {
    apiServerClient: naming.label(naming.systemName('apiserver-client')),
    kubeletClient: naming.label(naming.systemName('apiserver-client-kubelet')),
    kubeletServing: naming.label('kubelet-serving'),
    legacyUnknown: naming.label('legacy-unknown'),
  };
}

type Rule = (request: RequestedCertificate, usages: ReadonlySet<string>) => string | undefined;

const nodePrefix = 'system:node:';
const signing = 'digital signature';
const encipherment = 'key encipherment';
const client = 'client auth';
const server = 'server auth';

const rules: Readonly<Record<SignerKind, Rule>> = {
  apiServerClient: (_request, usages) => clientUsageProblem(usages),
  kubeletClient: ({ commonName, organizations, names }, usages) => {
    if (!isNodesAlone(organizations)) return 'subject organization is not system:nodes';
    if (names.dns.length > 0) return 'DNS subjectAltNames are not allowed';
    if (names.email.length > 0) return 'Email subjectAltNames are not allowed';
    if (names.ip.length > 0) return 'IP subjectAltNames are not allowed';
    if (names.uri.length > 0) return 'URI subjectAltNames are not allowed';
    if (!commonName.startsWith(nodePrefix)) return `subject common name does not begin with ${nodePrefix}`;
    return areExactly(usages, client)
      ? undefined
      : `usages did not match [${[client, signing, encipherment].join(' ')}]`;
  },
  kubeletServing: ({ commonName, organizations, names }, usages) => {
    if (!isNodesAlone(organizations)) return 'subject organization is not system:nodes';
    if (names.dns.length + names.ip.length === 0) return 'DNS or IP subjectAltName is required';
    if (names.email.length > 0) return 'Email subjectAltNames are not allowed';
    if (names.uri.length > 0) return 'URI subjectAltNames are not allowed';
    if (!areExactly(usages, server)) return `usages did not match [${[signing, encipherment, server].join(' ')}]`;
    return commonName.startsWith(nodePrefix) ? undefined : `subject common name does not begin with ${nodePrefix}`;
  },
  legacyUnknown: () => undefined,
};

/** Returns the reason why a signer does not sign a request; undefined if it does. */
export function refusalOf(
  kind: SignerKind,
  request: RequestedCertificate,
  usages: readonly string[],
): string | undefined {
  // Admission refuses such requests for one signer. Other signers must not issue administrator certificates either.
  if (request.organizations.includes(privilegedGroup)) {
    return `certificates for the group ${privilegedGroup} are not signed`;
  }
  return rules[kind](request, new Set(usages));
}

const isNodesAlone = (organizations: readonly string[]) =>
  organizations.length === 1 && organizations[0] === groupNames.nodes;

/** True for digital signature and the purpose, with or without key encipherment, which only RSA keys can be used for. */
function areExactly(usages: ReadonlySet<string>, purpose: string): boolean {
  const needed = [signing, purpose];
  const wanted = usages.has(encipherment) ? [...needed, encipherment] : needed;
  return usages.size === wanted.length && wanted.every((usage) => usages.has(usage));
}

function clientUsageProblem(usages: ReadonlySet<string>): string | undefined {
  const invalid = [...usages].find((usage) => ![signing, encipherment, client].includes(usage));
  if (invalid !== undefined) return `invalid usage for client certificate: ${invalid}`;
  return usages.has(client) ? undefined : `missing required usage for client certificate: ${client}`;
}

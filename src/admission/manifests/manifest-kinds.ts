import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  MutatingWebhookConfiguration,
} from '../../catalog/types/admissionregistration.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { goQuote } from '../../machinery/go-quote.js';
import { isSet } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { ManifestPlugin } from '../configuration/manifest-directory.configuration.js';

/** A kind that manifests of a plug-in may have. */
export interface ManifestKind {
  readonly kind: string;
  readonly plural: string;
  /** Returns what a stored object may have, and a manifest may not. Kinds with the same fields share it. */
  readonly problemOf: (object: KubeObject, suffix: string) => string | undefined;
}

export const manifestKinds: Readonly<Record<ManifestPlugin, readonly ManifestKind[]>> = {
  MutatingAdmissionPolicy: [
    { kind: 'MutatingAdmissionPolicy', plural: 'mutatingadmissionpolicies', problemOf: problemOfPolicy },
    { kind: 'MutatingAdmissionPolicyBinding', plural: 'mutatingadmissionpolicybindings', problemOf: problemOfBinding },
  ],
  MutatingAdmissionWebhook: [
    { kind: 'MutatingWebhookConfiguration', plural: 'mutatingwebhookconfigurations', problemOf: problemOfWebhooks },
  ],
  ValidatingAdmissionPolicy: [
    { kind: 'ValidatingAdmissionPolicy', plural: 'validatingadmissionpolicies', problemOf: problemOfPolicy },
    {
      kind: 'ValidatingAdmissionPolicyBinding',
      plural: 'validatingadmissionpolicybindings',
      problemOf: problemOfBinding,
    },
  ],
  ValidatingAdmissionWebhook: [
    { kind: 'ValidatingWebhookConfiguration', plural: 'validatingwebhookconfigurations', problemOf: problemOfWebhooks },
  ],
};

/** The end of the names of all manifests, which stored objects may not have. */
export const manifestNameSuffix = ({ apiDomain }: NamingProfile): string => `.static.${apiDomain}`;

function problemOfWebhooks({ webhooks = [] }: MutatingWebhookConfiguration): string | undefined {
  const withService = webhooks.find(({ clientConfig = {} }) => isSet(clientConfig.service));
  return withService
    ? `webhook ${goQuote(withService.name ?? '')}: clientConfig.service is not supported in manifests; use clientConfig.url`
    : undefined;
}

/** Params are stored objects, and would have to be known before the first request. */
function problemOfPolicy({ spec = {} }: MutatingAdmissionPolicy): string | undefined {
  return isSet(spec.paramKind) ? 'spec.paramKind is not supported in manifests' : undefined;
}

function problemOfBinding({ spec = {} }: MutatingAdmissionPolicyBinding, suffix: string): string | undefined {
  if (isSet(spec.paramRef)) return 'spec.paramRef is not supported in manifests';
  const { policyName = '' } = spec;
  return policyName.endsWith(suffix) ? undefined : `spec.policyName ${goQuote(policyName)} must end with "${suffix}"`;
}

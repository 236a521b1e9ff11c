import type { TokenRequest } from '../../catalog/types/authentication.v1.js';
import { goQuote } from '../../machinery/field-error.js';
import type { AdmissionAttributes } from '../admission-plugin.js';
import type { PluginDependencies } from '../plugin-dependencies.js';
import { findPod } from './pod-rules.js';
import { audienceProblem } from './token-audience.js';

/** A node may request tokens of a service account only for a Pod that runs on it as this service account. */
export async function podTokenProblem(
  dependencies: PluginDependencies,
  attributes: AdmissionAttributes,
  node: string,
): Promise<string | undefined> {
  const tokenRequest: TokenRequest | undefined = attributes.object;
  const ref = tokenRequest?.spec?.boundObjectRef;
  if (!ref || ref.apiVersion !== 'v1' || ref.kind !== 'Pod') return 'node requested token not bound to a pod';
  const { name = '', uid = '' } = ref;
  if (uid === '') return 'node requested token with a pod binding without a uid';
  const pod = await findPod(dependencies, attributes, name);
  if (!pod || pod.metadata.uid !== uid) return `the UID in the bound object reference does not match a pod`;
  const { nodeName, serviceAccountName } = pod.spec ?? {};
  if (nodeName !== node) return 'node requested token bound to a pod scheduled on a different node';
  if (serviceAccountName !== attributes.name)
    return `node requested token for an account that the pod ${goQuote(name)} does not act as`;
  const checksAudience = dependencies.featureGates['ServiceAccountNodeAudienceRestriction'] === true;
  return checksAudience ? audienceProblem(dependencies, attributes, pod) : undefined;
}

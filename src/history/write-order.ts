/** Kinds whose objects refuse or change writes of others: deleted first and created last. */
const admissionKinds = [
  'MutatingWebhookConfiguration',
  'ValidatingWebhookConfiguration',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
];
/** Kinds that others need, in their order. */
const earlyKinds = ['Namespace', 'CustomResourceDefinition', 'PriorityClass', 'ServiceAccount', 'Secret', 'ConfigMap'];

/** The number of ranks. */
export const ranksMax = earlyKinds.length + 2;

export const isAdmissionKind = (kind: string): boolean => admissionKinds.includes(kind);

/** Returns the rank of a kind in the order of writes: the lowest first. */
export function rankOf(kind: string): number {
  if (isAdmissionKind(kind)) return ranksMax - 1;
  const rank = earlyKinds.indexOf(kind);
  return rank < 0 ? earlyKinds.length : rank;
}

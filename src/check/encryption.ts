const mark = Buffer.from('k8s:enc:');
const providerLengthMax = 20;

/** Returns why a value that is encrypted at rest cannot be read; undefined for all other values. */
export function encryptionOf(value: Buffer): string | undefined {
  if (!value.subarray(0, mark.length).equals(mark)) return undefined;
  const rest = value.toString('latin1', mark.length, mark.length + providerLengthMax + 1);
  const provider = /^[a-z]+(?=:)/.exec(rest)?.[0];
  const by = provider === undefined ? '' : ` (provider ${provider})`;
  return `encrypted at rest${by}: rewrite it with the identity provider first`;
}

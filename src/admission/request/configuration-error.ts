/** A wrong configuration of a policy or a binding, which counts as an error of the policy. */
export class ConfigurationError extends Error {}

import type { JwtConfiguration } from '../../src/auth/configuration/jwt-configuration.js';

/** The optional mappings and rules of an issuer that has none of them. */
export const noMappings = {
  groups: undefined,
  uid: undefined,
  extra: [],
  requiredClaims: [],
  claimRules: [],
  userRules: [],
} as const satisfies Partial<JwtConfiguration>;

import type { Volume } from '../../../catalog/types/core.v1.js';

/** The part of a PodSpec that its containers refer to. */
export interface PodReferences {
  readonly volumes: ReadonlyMap<string, Volume>;
  /** Names in spec.resourceClaims. */
  readonly claims: ReadonlySet<string>;
  readonly hostNetwork: boolean;
}

import type { AdmissionAttributes } from '../admission-plugin.js';

/** Checks a write by the user of a node. Returns the error if it is refused. */
export type NodeRule = (
  attributes: AdmissionAttributes,
  node: string,
) => string | undefined | Promise<string | undefined>;

import type { FunctionDeclaration, MessageType } from '../check/declarations.js';
import type { CallCost, EstimateCall } from '../cost/costs.js';
import type { Macro } from '../syntax/macros.js';
import type { CelType } from '../types.js';
import type { Validator } from '../check/validators.js';
import type { Value } from '../values/value.js';

/** A release of Kubernetes: `1.36`. */
export interface Version {
  readonly major: number;
  readonly minor: number;
}

/** Functions, macros and types that belong together. */
export interface Library {
  readonly name: string;
  readonly functions?: readonly FunctionDeclaration[];
  readonly macros?: readonly Macro[];
  /** Types that expressions may name. */
  readonly types?: readonly CelType[];
  readonly messages?: readonly MessageType[];
  /** Names of values, such as those of an enum. */
  readonly constants?: Readonly<Record<string, Value>>;
  /** The costs of overloads, by their ids; they come before those of Kubernetes. */
  readonly estimates?: Readonly<Record<string, EstimateCall>>;
  readonly costs?: Readonly<Record<string, CallCost>>;
  readonly validators?: readonly Validator[];
  readonly hasOptionalSyntax?: boolean;
  readonly comparesAcrossTypes?: boolean;
}

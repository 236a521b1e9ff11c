import type { KubeObject } from '../../machinery/kube-object.js';
import type { AdmissionOperation } from '../admission-plugin.js';
import type { Amounts } from '../amounts.js';
import type { ScopeMatcher } from './scopes.js';

/** How the objects of one resource are counted against quotas. */
export interface Evaluator {
  /** Which writes may change what is used. */
  handles(operation: AdmissionOperation, subresource: string): boolean;
  /** True if an update of the object itself, which `handles` does not ask for, may bring it under other quotas. */
  changesScope?(object: KubeObject, old: KubeObject): boolean;
  /** Of the names in a quota, whether this resource has a part in one. */
  counts(name: string): boolean;
  /** What one object takes. `nowMs` tells whether it has ended. */
  usage(object: KubeObject, nowMs: number): Amounts;
  /** Every object takes the same: the names of which each takes one. Objects need not be looked at to be counted. */
  readonly countedNames?: readonly string[];
  readonly matchesScope: ScopeMatcher;
  /** What the object must say when these are limited, and does not say. */
  missing?(object: KubeObject, limited: ReadonlySet<string>): string | undefined;
}

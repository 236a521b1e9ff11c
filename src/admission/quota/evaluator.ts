import type { KubeObject } from '../../machinery/kube-object.js';
import type { AdmissionOperation } from '../admission-operation.js';
import type { Amounts } from '../amounts.js';
import type { ScopeMatcher } from './scopes.js';

/** Counts the objects of one resource against ResourceQuotas. */
export interface Evaluator {
  /** True for writes that may change the usage. */
  handles(operation: AdmissionOperation, subresource: string): boolean;
  /** True if an update that `handles` does not report may change which quotas match the object. */
  changesScope?(object: KubeObject, old: KubeObject): boolean;
  /** True if objects of this resource may use the resource name. */
  counts(name: string): boolean;
  /** Computes the usage of one object. `nowMs` decides whether a deleted Pod still counts. */
  usage(object: KubeObject, nowMs: number): Amounts;
  /** Set if each object uses one of each of these names and no more: objects are counted without being parsed. */
  readonly countedNames?: readonly string[];
  readonly matchesScope: ScopeMatcher;
  /** Returns the error if the object lacks a request or limit that is required because its name is limited. */
  missing?(object: KubeObject, limited: ReadonlySet<string>): string | undefined;
}

import type { PodSpec } from '../../catalog/types/core.v1.js';
import type { Level } from './level.js';

/** The part of a Pod, or of a Pod template, that checks read. */
export interface PodView {
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: PodSpec;
}

/** A rule that a Pod violates, and the containers, volumes or fields that violate it. */
export interface Violation {
  readonly reason: string;
  readonly detail: string;
}

export type Rule = (pod: PodView) => Violation | undefined;

/** One control of the Pod Security Standards. Its rule may differ between versions. */
export interface Check {
  readonly id: string;
  readonly level: Exclude<Level, 'privileged'>;
  /** Ordered by the minor version that introduced each rule. */
  readonly rules: readonly VersionedRule[];
}

export interface VersionedRule {
  readonly since: number;
  readonly rule: Rule;
  /** Baseline checks that this stricter rule makes redundant. */
  readonly replaces?: readonly string[];
}
